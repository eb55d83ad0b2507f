"""The paper's figures, theorems and numbers, a file each: settings, then the plot, then claims."""
