// The layout of docs/wire-protocol.md §5, shared by the reader and the writer of headers.

export const HEADER_VERSION = 1;
export const HEADER_FIXED_BYTES = 4;
export const ID_BYTES_MAX = 64;
export const U32_MAX = 0xffff_ffff;
export const LENGTH_UNKNOWN = 0xffff_ffff_ffff_ffffn;

export const HAS_MSG_ID = 1;
export const HAS_CORR_ID = 2;
export const HAS_RAW_LEN = 16;
export const HAS_BODY = 32;
export const RESERVED_FLAGS = 0xffcc;

export function isVisibleAscii(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 0x21 || code > 0x7e) return false;
  }
  return true;
}
