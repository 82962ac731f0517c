STREAM Seen(person STRING) KEY person TIME t PROBABILITY p GIVEN previous;
