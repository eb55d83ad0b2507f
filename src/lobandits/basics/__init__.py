"""What every room needs: checks, frozen values, files, kernels, tables, progress."""
