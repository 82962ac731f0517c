PREFIX tr: <http://traffic.example.org/data#>
SELECT ?road ?speed WHERE
{ ?road tr:slowTrafficDue ?observ }
SEQ { ?road tr:slowTrafficDue ?observ }
FILTER ( getDURATION() < "P1H"^^xsd:duration)
