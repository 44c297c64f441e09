export type CsvValue = string | number | boolean | null | undefined;

/** Begins that spreadsheets take for a formula, also behind white space that they skip. */
const FORMULA = /^[\s\p{Cc}\p{Cf}]*[=+\-@＝＋－＠]/u;

/**
 * Returns a cell of a CSV file (RFC 4180). A text that begins like a formula gets a leading apostrophe, so that opening the file runs
 * nothing; numbers are left as they are.
 */
export function csvCell(value: CsvValue): string {
  if (value === null || value === undefined) return "";
  if (typeof value !== "string") return String(value);
  const text = FORMULA.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) || text !== text.trim() ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Returns a CSV file with a line of headings. Lines end with CR LF. */
export function csvFile(headings: readonly string[], rows: readonly (readonly CsvValue[])[]): string {
  return [headings, ...rows].map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}
