"""Pages: a run, a verdict of the gate, a matrix of tests, each as one HTML file that asks nothing of the network."""
