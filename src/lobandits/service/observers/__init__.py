"""What looks on as decisions are made and rewarded, and what it reports."""
