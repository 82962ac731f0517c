"""Queries over triples and background knowledge: EP-SPARQL beside engines of SPARQL and rules of Prolog."""
