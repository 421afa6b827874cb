"""Pages: a run, a verdict of the gate, each as one HTML file that asks nothing of the network."""
