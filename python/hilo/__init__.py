"""Python side of hilo: the reference runtime for penguin programs is `hilo.penguin`."""
