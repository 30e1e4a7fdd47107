"""Is a change real, and may it ship: `compare`, `gate`, `leaderboard`, what was saved."""
