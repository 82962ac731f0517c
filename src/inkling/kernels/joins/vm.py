"""A virtual machine for conditions across events: bytecode over one stack of doubles, with NaN for null.

The machine is compiled once per installation; a query supplies instructions, constants and columns. An instruction is a
row `(operation, a, b)`. A Boolean is 1.0 or 0.0, never NaN.
"""

import math

import numpy as np
from numba import njit

from inkling.kernels.joins.callbacks import called

CONST = 0  # push constants[a]
CANDIDATE = 1  # push column a of the candidate event
REGISTER = 2  # push column b of the event in register a
HAS = 3  # push whether register a holds an event
MOMENT = 4  # push time register a
NUMBER = 5  # push time register a, which holds the bits of a double
ADD, SUB, MUL, DIV, MOD, NEG = 10, 11, 12, 13, 14, 15
LT, LE, GT, GE, EQ, NE = 20, 21, 22, 23, 24, 25
AND, OR, NOT, IS_NULL = 30, 31, 32, 33
HOLDS = 38  # whether the top is in the list given by the value below: b + 1 offsets from constants[a] on, then lists
IN = 34  # whether the top is in constants[a:b]
TRANSLATE = 35  # the value at index top in a table (constants[a] is the first index, then b values), or null
SEARCH = 36  # the index of the top in the b sorted constants from a on, or null
CHOOSE = 39  # replace the top three by the second of them if the first is 1.0, else by the third
PAIR = 37  # the index of the top two in b sorted pairs: b firsts from a on, then b seconds; or null
ABS, SQRT, EXP, LN, SIN, COS, FLOOR, CEIL = 40, 41, 42, 43, 44, 45, 46, 47
POW, LEAST, GREATEST, GREAT_CIRCLE, ANGLE, PASSING = 50, 51, 52, 53, 54, 55
CANDIDATE_ROW = 60  # push the row of the candidate event
ROW = 61  # push the row of the event in register a, or -1
CALL = 62  # replace the top a values by what the Python function at address b gives for them
UNLESS = 63  # end with 0.0 unless the top is 1.0

NO_EVENT = -1
NO_MOMENT = np.int64(-(2**63) + 1)
EARTH_RADIUS_M = 6_371_000.0


@njit(cache=True, inline="never")
def _finite(value):
    if math.isinf(value):
        return math.nan
    return value


@njit(cache=True, inline="never")
def _great_circle(lat1, lon1, lat2, lon2, radius):
    phi1 = math.radians(lat1)
    phi2 = math.radians(lat2)
    half_phi = (phi2 - phi1) / 2.0
    half_lambda = math.radians(lon2 - lon1) / 2.0
    chord = math.sin(half_phi) ** 2 + math.cos(phi1) * math.cos(phi2) * math.sin(half_lambda) ** 2
    return 2.0 * radius * math.asin(math.sqrt(min(1.0, chord)))


@njit(cache=True, inline="never")
def _passing_distance(stack, first):
    for i in range(first, first + 6):
        if math.isnan(stack[i]):
            return math.nan
    lat, lon, heading, length = stack[first], stack[first + 1], stack[first + 2], stack[first + 3]
    lat2, lon2 = stack[first + 4], stack[first + 5]
    phi1, phi2, turn = math.radians(lat), math.radians(lat2), math.radians(lon2 - lon)
    angle = _great_circle(lat, lon, lat2, lon2, 1.0)
    north = math.cos(phi1) * math.sin(phi2) - math.sin(phi1) * math.cos(phi2) * math.cos(turn)
    off = math.atan2(math.sin(turn) * math.cos(phi2), north) - math.radians(heading)
    across = math.asin(max(-1.0, min(1.0, math.sin(angle) * math.sin(off))))
    along = math.atan2(math.sin(angle) * math.cos(off), math.cos(angle))
    end = max(0.0, length) / EARTH_RADIUS_M
    if along < 0.0:
        along += 2.0 * math.pi
    if along <= end:
        return EARTH_RADIUS_M * abs(across)
    half = math.sin((along - end) / 2.0)
    chord = math.sin(across / 2.0) ** 2 + math.cos(across) * half**2
    return EARTH_RADIUS_M * min(angle, 2.0 * math.asin(math.sqrt(min(1.0, chord))))


@njit(cache=True, inline="never")
def _unary(op, x):
    if op == NEG:
        return -x
    if op == NOT:
        return 0.0 if x == 1.0 else 1.0
    if op == IS_NULL:
        return 1.0 if math.isnan(x) else 0.0
    if math.isnan(x):
        return math.nan
    if op == ABS:
        return abs(x)
    if op == SQRT:
        return math.sqrt(x) if x >= 0.0 else math.nan
    if op == EXP:
        return _finite(math.exp(x)) if x < 709.0 else math.nan
    if op == LN:
        return math.log(x) if x > 0.0 else math.nan
    if op == SIN:
        return math.sin(x)
    if op == COS:
        return math.cos(x)
    if op == FLOOR:
        return math.floor(x)
    return math.ceil(x)


@njit(cache=True, inline="never")
def _binary(op, x, y):
    if op == AND:
        return 1.0 if x == 1.0 and y == 1.0 else 0.0
    if op == OR:
        return 1.0 if x == 1.0 or y == 1.0 else 0.0
    missing = math.isnan(x) or math.isnan(y)
    if op >= LT and op <= NE:
        if missing:
            return 0.0
        if op == LT:
            return 1.0 if x < y else 0.0
        if op == LE:
            return 1.0 if x <= y else 0.0
        if op == GT:
            return 1.0 if x > y else 0.0
        if op == GE:
            return 1.0 if x >= y else 0.0
        if op == EQ:
            return 1.0 if x == y else 0.0
        return 1.0 if x != y else 0.0
    if missing:
        return math.nan
    if op == ADD:
        return _finite(x + y)
    if op == SUB:
        return _finite(x - y)
    if op == MUL:
        return _finite(x * y)
    if op == DIV:
        return _finite(x / y) if y != 0.0 else math.nan
    if op == MOD:
        return np.fmod(x, y) if y != 0.0 else math.nan
    if op == POW:
        if (x == 0.0 and y < 0.0) or (x < 0.0 and y != math.floor(y)):
            return math.nan
        return _finite(x**y)
    if op == LEAST:
        return min(x, y)
    if op == GREATEST:
        return max(x, y)
    turned = np.fmod(abs(x - y), 360.0)
    return min(turned, 360.0 - turned)


@njit(cache=True, inline="never")
def _place(value, constants, first, count):
    low = 0
    while count > 1:  # branchless binary search: its branches would be unpredictable
        half = count >> 1
        low = low + half if constants[first + low + half] <= value else low
        count -= half
    if count == 1 and constants[first + low] == value:
        return float(low)
    return math.nan


@njit(cache=True, inline="never")
def _place_of_pair(one, other, constants, first, count):
    low, high = 0, count
    while low < high:
        middle = (low + high) // 2
        have = constants[first + middle]
        if have < one or (have == one and constants[first + count + middle] < other):
            low = middle + 1
        else:
            high = middle
    if low < count and constants[first + low] == one and constants[first + count + low] == other:
        return float(low)
    return math.nan


@njit(cache=True, forceinline=True)  # a call costs more than most conditions
def run(code, constants, columns, candidate, registers, moments, stack):
    """Value of a condition for one candidate event and one partial match; the stack has room for each instruction."""
    top = -1
    for i in range(code.shape[0]):
        op = code[i, 0]
        if op == CONST:
            top += 1
            stack[top] = constants[code[i, 1]]
        elif op == CANDIDATE:
            top += 1
            stack[top] = columns[code[i, 1], candidate]
        elif op == REGISTER:
            top += 1
            row = registers[code[i, 1]]
            stack[top] = columns[code[i, 2], row] if row != NO_EVENT else math.nan
        elif op == HAS:
            top += 1
            stack[top] = 1.0 if registers[code[i, 1]] != NO_EVENT else 0.0
        elif op == MOMENT:
            top += 1
            moment = moments[code[i, 1]]
            stack[top] = float(moment) if moment != NO_MOMENT else math.nan
        elif op == NUMBER:
            top += 1
            stack[top] = moments.view(np.float64)[code[i, 1]]
        elif op == IN:
            found = 0.0
            for j in range(code[i, 1], code[i, 2]):
                if stack[top] == constants[j]:
                    found = 1.0
            stack[top] = found
        elif op == TRANSLATE:
            place = stack[top] - constants[code[i, 1]]
            if place >= 0.0 and place < code[i, 2] and place == math.floor(place):
                stack[top] = constants[code[i, 1] + 1 + int(place)]
            else:
                stack[top] = math.nan
        elif op == SEARCH:
            if not math.isnan(stack[top]):
                stack[top] = _place(stack[top], constants, code[i, 1], code[i, 2])
        elif op == HOLDS:
            top -= 1
            if math.isnan(stack[top]) or math.isnan(stack[top + 1]):
                stack[top] = 0.0
            else:
                begin = int(constants[code[i, 1] + int(stack[top])])
                end = int(constants[code[i, 1] + int(stack[top]) + 1])
                places = code[i, 1] + code[i, 2] + 1
                stack[top] = 0.0 if math.isnan(_place(stack[top + 1], constants, places + begin, end - begin)) else 1.0
        elif op == PAIR:
            top -= 1
            if math.isnan(stack[top]) or math.isnan(stack[top + 1]):
                stack[top] = math.nan
            else:
                stack[top] = _place_of_pair(stack[top], stack[top + 1], constants, code[i, 1], code[i, 2])
        elif op == GREAT_CIRCLE:
            top -= 4
            lat1, lon1, lat2, lon2, radius = stack[top], stack[top + 1], stack[top + 2], stack[top + 3], stack[top + 4]
            if math.isnan(lat1) or math.isnan(lon1) or math.isnan(lat2) or math.isnan(lon2) or math.isnan(radius):
                stack[top] = math.nan
            else:
                stack[top] = _great_circle(lat1, lon1, lat2, lon2, radius)
        elif op == PASSING:
            top -= 5
            stack[top] = _passing_distance(stack, top)
        elif op == CHOOSE:
            top -= 2
            stack[top] = stack[top + 1] if stack[top] == 1.0 else stack[top + 2]
        elif op == CANDIDATE_ROW:
            top += 1
            stack[top] = float(candidate)
        elif op == ROW:
            top += 1
            stack[top] = float(registers[code[i, 1]])
        elif op == CALL:
            top -= code[i, 1] - 1
            stack[top] = called(code[i, 2], stack, top)
        elif op == UNLESS:
            if stack[top] != 1.0:
                return 0.0
        elif op in (NEG, NOT, IS_NULL) or (op >= ABS and op <= CEIL):
            stack[top] = _unary(op, stack[top])
        else:
            top -= 1
            stack[top] = _binary(op, stack[top], stack[top + 1])
    return stack[0]
