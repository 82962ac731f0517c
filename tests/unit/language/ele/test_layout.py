"""Rules are printed in one layout that reads back as the same rules."""

from inkling.language.ele import ETALIS

WRITTEN = """% prices
:-stream(price( company:string,value : double ),key(company),late(10 min)).
/* links
   of the market */
linked(a,'Big House'). linked("b",-2.5).
reach(X,Z):-linked(X,Y),not banned(Y),reach(Y,Z).
quick([window(5)]):rise(C,P2)<-(price(C,P1)seq price(C,P2)).7min where{P2>1.5*(P1+1),not banned(C)}.
quiet<-not(halt)[open,close] SEQ 12 and (late(X)<-halt ntimes 2)FNOT open star_times.
e()do told(X),stop<-a(X)+ where(X>1->Y=[X,2];member(Y,Z)),0<Y<3h,\\+rdf:type(X,wt:a).
p(N=1,X):-q(X),!.
rise(Company,LargerPrice)<-price(Company,FirstPrice)SEQ price(Company,LargerPrice)WHERE LargerPrice>FirstPrice+10.
"""
PRINTED = """\
% prices
:- stream(price(company: string, value: double), key(company), late(10 min)).

% links
% of the market
linked(a, 'Big House').

linked("b", -2.5).

reach(X, Z) :- linked(X, Y), not banned(Y), reach(Y, Z).

quick([window(5)]): rise(C, P2) <- (price(C, P1) SEQ price(C, P2)).7 min WHERE {P2 > 1.5 * (P1 + 1), not banned(C)}.

quiet <- NOT(halt).[open, close] SEQ 12 AND (late(X) <- halt ntimes 2) FNOT open star_times.

e DO told(X), stop <- a(X)+ WHERE
    (X > 1 -> Y = [X, 2] ; member(Y, Z)),
    (0 < Y, Y < 3 h),
    not rdf:type(X, wt:a).

p(N = 1, X) :- q(X), !.

rise(Company, LargerPrice) <- price(Company, FirstPrice) SEQ price(Company, LargerPrice) WHERE
    LargerPrice > FirstPrice + 10.
"""


def test_layout() -> None:
    assert ETALIS.format(WRITTEN) == PRINTED


def test_printed_rules_are_printed_the_same() -> None:
    assert ETALIS.format(PRINTED) == PRINTED


def test_nothing() -> None:
    assert ETALIS.format("") == ""
    assert ETALIS.parse("").statements == ()


def test_comments_alone() -> None:
    assert ETALIS.format("%a\n/* b\nc */") == "% a\n% b\n% c\n"
