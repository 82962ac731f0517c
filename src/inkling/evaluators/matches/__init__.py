"""What finished matches are made into: values of outputs, ids of the events they depend on."""
