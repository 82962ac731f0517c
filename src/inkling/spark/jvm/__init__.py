"""The virtual machine that Spark runs on: Java, jars, and an archive of classes that makes it start quickly."""
