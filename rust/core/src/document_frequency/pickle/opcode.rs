//! The pickle instructions that are carried out, by the names of Python's `pickletools`.

macro_rules! opcodes {
    ($($name:ident = $byte:literal)*) => { $(pub(super) const $name: u8 = $byte;)* };
}

// The program.
opcodes! { PROTO = 0x80 FRAME = 0x95 STOP = b'.' }
// Constants and numbers.
opcodes! {
    NONE = b'N' NEWTRUE = 0x88 NEWFALSE = 0x89
    INT = b'I' BININT = b'J' BININT1 = b'K' BININT2 = b'M'
    LONG = b'L' LONG1 = 0x8a LONG4 = 0x8b FLOAT = b'F' BINFLOAT = b'G'
}
// Text and bytes.
opcodes! {
    STRING = b'S' BINSTRING = b'T' SHORT_BINSTRING = b'U'
    UNICODE = b'V' SHORT_BINUNICODE = 0x8c BINUNICODE = b'X' BINUNICODE8 = 0x8d
    SHORT_BINBYTES = b'C' BINBYTES = b'B' BINBYTES8 = 0x8e BYTEARRAY8 = 0x96
}
// The stack.
opcodes! { MARK = b'(' POP = b'0' POP_MARK = b'1' DUP = b'2' }
// Containers.
opcodes! {
    EMPTY_TUPLE = b')' TUPLE1 = 0x85 TUPLE2 = 0x86 TUPLE3 = 0x87 TUPLE = b't'
    EMPTY_LIST = b']' LIST = b'l' APPEND = b'a' APPENDS = b'e'
    EMPTY_DICT = b'}' DICT = b'd' SETITEM = b's' SETITEMS = b'u'
}
// The memo.
opcodes! {
    PUT = b'p' BINPUT = b'q' LONG_BINPUT = b'r' MEMOIZE = 0x94
    GET = b'g' BINGET = b'h' LONG_BINGET = b'j'
}
// Names, and what is done with them.
opcodes! { GLOBAL = b'c' STACK_GLOBAL = 0x93 INST = b'i' REDUCE = b'R' BUILD = b'b' }
