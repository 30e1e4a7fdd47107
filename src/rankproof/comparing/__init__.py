"""Is a change real, and may it ship: `compare`, `gate`, `leaderboard`, saved results."""
