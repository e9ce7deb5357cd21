/** Lines of text in one result. */
export const DEFAULT_MAX_LINES = 2_000;
/** Bytes of UTF-8 text in one result. */
export const DEFAULT_MAX_BYTES = 50 * 1_024;
/** Characters of one line that `grep` shows. */
export const GREP_MAX_LINE_LENGTH = 500;
export const GREP_DEFAULT_LIMIT = 100;
export const FIND_DEFAULT_LIMIT = 1_000;
export const LS_DEFAULT_LIMIT = 500;
/** Bytes of an image file that fit into 4.5 MiB of Base64, what every provider takes. */
export const MAX_IMAGE_BYTES = Math.floor((4.5 * 1_024 * 1_024 * 3) / 4);
/** `read` stops counting a file's lines this many bytes after those it shows. */
export const MAX_COUNTED_BYTES = 64 * 1_024 * 1_024;
/** A larger file is not edited: its text would be held several times in memory. */
export const MAX_EDIT_BYTES = 64 * 1_024 * 1_024;
/** Seconds that a command may take where nobody watches it. */
export const HEADLESS_TIMEOUT_SECONDS = 600;
/** Seconds: a Node timer holds its milliseconds in 31 bits, and a longer one fires at once. */
export const MAX_TIMEOUT_SECONDS = 2_147_483.647;
/** Bytes of a command's output that are kept in its file. */
export const MAX_OUTPUT_FILE_BYTES = 1_024 * 1_024 * 1_024;
/** Between SIGTERM and SIGKILL. An interrupted agent is gone within a second, its commands included. */
export const TERMINATE_GRACE_MS = 500;
