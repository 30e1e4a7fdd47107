PRAGMA application_id = 1380862800;
PRAGMA user_version = 1;
BEGIN TRANSACTION;
CREATE TABLE experiments (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL UNIQUE,
            saved_at TEXT NOT NULL,
            rankproof TEXT NOT NULL,
            python TEXT NOT NULL,
            git_commit TEXT,
            judgments TEXT NOT NULL,
            ranking TEXT NOT NULL,
            facts TEXT NOT NULL,
            queries BLOB NOT NULL
        );
INSERT INTO "experiments" VALUES(1,'the first one','2026-03-01T12:00:00+00:00','0.1.0','3.11.7','0123456789abcdef0123456789abcdef01234567','6084c066fab455fb095f2d616e394b71c552dd15e19bab8d89d4bf986021879b','b2d93d12e7ba109cc4d6dcb0a7ffa3ecd6655ef4ab47e01b827790c4ae432020','{"rows": {"nDCG@10": {"measure": "nDCG@10", "mean": 0.695558643501663, "n": 2, "low": 0.6309297535714575, "high": 0.7601875334318685, "method": "BCa bootstrap, 10,000 resamples", "ceiling": 1.0, "ties": null, "unjudged": [0.695558643501663, 0.9201515141900503], "never_found": 0.0, "ranked_too_low": 0.304441356498337, "note": ""}, "RR": {"measure": "RR", "mean": 0.75, "n": 2, "low": 0.5, "high": 1.0, "method": "BCa bootstrap, 10,000 resamples", "ceiling": 1.0, "ties": null, "unjudged": [0.75, 1.0], "never_found": 0.0, "ranked_too_low": 0.25, "note": ""}, "AP": {"measure": "AP", "mean": 0.6666666666666666, "n": 2, "low": 0.5, "high": 0.8333333333333333, "method": "BCa bootstrap, 10,000 resamples", "ceiling": 1.0, "ties": null, "unjudged": [0.6666666666666666, 1.0], "never_found": 0.0, "ranked_too_low": 0.33333333333333337, "note": ""}}, "names": {"nDCG@10": "nDCG@10", "RR": "RR", "AP": "AP"}, "groups": {}, "facts": {"documents": 3, "tied": 0.0, "unjudged": {"10": 0.4}}, "definition": {"conventions": {"ties": "trec", "missing": "zero", "no_relevant": "zero", "unjudged": "nonrelevant", "unjudged_grade": 1.0, "duplicates": "error", "precision": "float64", "corpus": null, "context_k": null, "rounded": null, "profile": null}, "measures": {"nDCG@10": {"measure": "nDCG", "title": "Normalised DCG: the gain, discounted down the list, as a share of what the ideal order gains.", "params": {"k": 10, "gain": "linear", "ideal": "all", "rel": 0}}, "RR": {"measure": "RR", "title": "One over the rank of the first relevant document; its mean is MRR.", "params": {"k": null, "rel": 1}}, "AP": {"measure": "AP", "title": "The mean over the relevant documents of the precision at their ranks; its mean is MAP.", "params": {"k": null, "rel": 1, "denominator": "all"}}}, "judgments": "judgments", "fingerprint": "6084c066fab455fb095f2d616e394b71c552dd15e19bab8d89d4bf986021879b", "ranking": "ranking", "notes": []}, "audit": {"findings": [{"severity": "note", "kind": "unjudged", "count": 2, "message": "40 % of the documents in the top 10 were never judged and count as not relevant.", "examples": [], "advice": "judge the top of the rankings, or look at the bounds: the numbers if they were relevant."}, {"severity": "note", "kind": "short-of-cut-off", "count": 1, "message": "No ranking holds more than 3 documents, so nDCG@10 sees no further.", "examples": [], "advice": "retrieve 10 documents, or ask for nDCG@3."}]}}',X'789C8B562A3454D251502A34528A0500129202D2');
CREATE TABLE measured (
            experiment INTEGER NOT NULL REFERENCES experiments(id) ON DELETE CASCADE,
            place INTEGER NOT NULL,
            measure TEXT NOT NULL,
            mean REAL NOT NULL,
            note TEXT NOT NULL,
            per_query BLOB NOT NULL,
            counted BLOB,
            PRIMARY KEY (experiment, place)
        );
INSERT INTO "measured" VALUES(1,0,'nDCG@10',0.695558643501663,'',X'789C730F8B3D5712FCC2DECED474C6648327F60039DA06DD',NULL);
INSERT INTO "measured" VALUES(1,1,'RR',0.75,'',X'789C636000810FF6608AE1813D000DA6024F',NULL);
INSERT INTO "measured" VALUES(1,2,'AP',6.66666666666666629659e-01,'',X'789C5BB50A045ED93380C1037B0043340645',NULL);
COMMIT;
