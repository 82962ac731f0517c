"""The Java virtual machine of Spark: the Java itself, jars, and a class archive for a fast start."""
