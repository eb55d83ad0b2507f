"""What people ask of a service: a user, how it goes overall, the model, and the log."""
