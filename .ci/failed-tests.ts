/**
 * Prints the errors of the failed tests of a log of `bun test`: `bun .ci/failed-tests.ts <log>`. With `--files` before the log, only
 * the names of their files, one a line.
 */

const MAX_TESTS = 20;
const MAX_LINES = 60;
/** Of an error that is longer: its first lines have the message, its last ones the stack. */
const FIRST_LINES = 40;

/** What bun printed between two results, of which the second ends it; the last part of a file has none. */
interface Part {
  /** The line that names the file. */
  readonly file: string;
  readonly lines: readonly string[];
  /** The line of the result. */
  readonly result: string;
}

const isFile = (line: string) => /^(::group::)?\S+\.test\.tsx?:$/.test(line);
const isResult = (line: string) => /^\((pass|fail|skip|todo)\) /.test(line);
/** It repeats the names of the failed tests. */
const isSummary = (line: string) => /^\d+ tests? failed:$/.test(line) || /^ *\d+ pass$/.test(line);
const isErrorStart = (line: string) => /^ *\d+ \| /.test(line) || /^(\w*Error|error)\b.*/.test(line);
const isNote = (line: string) => line.startsWith("  ^ ");

/**
 * Returns what a log of `bun test` says about each failed test: the error and the name of the test, under the file. The
 * processes of `--parallel` write on their own, so an error may also stand behind the name of its test; then all errors of the
 * file that are without a test are returned. Of a log without a failed test, the last lines.
 */
export function failedTests(log: string): string {
  const lines = log.split(/\r?\n/);
  const red = redParts(partsOf(lines));
  if (red.length === 0) return bounded(lines.slice(-MAX_LINES)).join("\n").trim();
  const texts = red
    .slice(0, MAX_TESTS)
    .map((part) =>
      [part.file, ...bounded(errorOf(part)), ...(isFailure(part) ? [part.result] : [])].join("\n"),
    );
  if (red.length > MAX_TESTS) texts.push(`… and ${red.length - MAX_TESTS} more`);
  return texts.join("\n\n");
}

/** Returns the files with a failed test or an error outside a test, each once, as `bun test` takes them. */
export function failedFiles(log: string): string[] {
  const files = redParts(partsOf(log.split(/\r?\n/))).map(({ file }) =>
    file.replace(/^::group::/, "").replace(/:$/, ""),
  );
  return [...new Set(files)].filter((file) => file !== "");
}

function redParts(parts: readonly Part[]): Part[] {
  const unexplained = new Set(
    parts.filter((part) => isFailure(part) && !hasError(part)).map(({ file }) => file),
  );
  return parts.filter(
    (part) =>
      isFailure(part) ||
      part.lines.some((line) => line.startsWith("# Unhandled error between tests")) ||
      (unexplained.has(part.file) && hasError(part)),
  );
}

function partsOf(lines: readonly string[]): Part[] {
  const parts: Part[] = [];
  let file = "";
  let part: string[] = [];
  const end = (result: string) => {
    parts.push({ file, lines: part, result });
    part = [];
  };
  for (const [at, line] of lines.entries()) {
    if (isSummary(line)) break;
    if (isFile(line)) {
      end("");
      file = line;
    } else if (isResult(line)) {
      const note = lines[at + 1] ?? "";
      end(isNote(note) ? `${line}\n${note}` : line);
    } else if (!isNote(line)) part.push(line);
  }
  end("");
  return parts;
}

const isFailure = ({ result }: Part) => result.startsWith("(fail)");
const hasError = ({ lines, result }: Part) => lines.some(isErrorStart) || result.includes("\n");

/** The part without what the test printed before the error. Of a test without an error, all that it printed. */
function errorOf({ lines, result }: Part): readonly string[] {
  const start = lines.findIndex(isErrorStart);
  if (start >= 0) return lines.slice(start);
  return result === "" ? [] : lines;
}

function bounded(lines: readonly string[]): readonly string[] {
  if (lines.length <= MAX_LINES) return lines;
  const last = MAX_LINES - FIRST_LINES;
  const leftOut = `… ${lines.length - MAX_LINES} lines …`;
  return [...lines.slice(0, FIRST_LINES), leftOut, ...lines.slice(-last)];
}

if (import.meta.main) {
  const log = await Bun.file(process.argv.at(-1) ?? "").text();
  console.log(process.argv[2] === "--files" ? failedFiles(log).join("\n") : failedTests(log));
}
