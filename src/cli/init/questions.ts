import { homedir } from "node:os";
import { createInterface } from "node:readline/promises";
import { isNodeUrlOrEmpty } from "../../config/formats.ts";
import { UserError } from "../../lib/failure.ts";
import { type Choice, parseFid, parseFids, type Wanted } from "./choice.ts";

/** Asks the operator questions, one line at a time. */
export interface Dialog extends Disposable {
  say(text: string): void;
  /**
   * Asks until \`read\` understands the answer.
   *
   * @param read returns undefined for an answer that it does not understand.
   * @param hint what is said then.
   * @throws UserError after several such answers, and when the input ends.
   */
  ask<T>(question: string, read: (answer: string) => T | undefined, hint: string): Promise<T>;
  /**
   * Waits for work between two questions.
   *
   * @throws UserError if the input ends before: the terminal passes Ctrl-C on as a key, not as a signal.
   */
  during<T>(work: Promise<T>): Promise<T>;
}

const MAX_ATTEMPTS = 5;
const NOTHING_WRITTEN = "nothing was written";

/** A dialog over the terminal of standard input. Questions are written to standard error, because standard output is for results. */
export function terminalDialog(): Dialog {
  const lines = createInterface({ input: process.stdin, output: process.stderr });
  const ended = new AbortController();
  lines.on("close", () => ended.abort());
  lines.on("SIGINT", () => lines.close());
  return {
    say: (text) => void process.stderr.write(`${text}\n`),
    async ask(question, read, hint) {
      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const answer = await lines.question(`${question} `, { signal: ended.signal }).catch(() => undefined);
        if (answer === undefined) throw new UserError(`the input has ended: ${NOTHING_WRITTEN}`);
        const value = read(answer.trim());
        if (value !== undefined) return value;
        process.stderr.write(`${hint}\n`);
      }
      throw new UserError(`too many invalid answers: ${NOTHING_WRITTEN}`);
    },
    async during(work) {
      const cut = Promise.withResolvers<never>();
      const end = () => cut.reject(new UserError(`stopped: ${NOTHING_WRITTEN}`));
      ended.signal.addEventListener("abort", end);
      if (ended.signal.aborted) end();
      try {
        return await Promise.race([work, cut.promise]);
      } finally {
        ended.signal.removeEventListener("abort", end);
      }
    },
    [Symbol.dispose]: () => lines.close(),
  };
}

const KINDS = ["demo", "fids", "channel", "followers", "all"] as const;

const MENU = `Which users does this node serve?
  1  a demo network of its own, to try it out
  2  the users of an app: a list of fids
  3  the users of a channel: everyone who has a cast in it
  4  everyone who follows an fid
  5  the whole network`;

/** Asks for everything that flags could specify. */
export async function askWanted(
  dialog: Dialog,
  given: { readonly upstreamUrl: string; readonly dataDir: string; readonly isPublic: boolean },
): Promise<Pick<Wanted, "choice" | "upstreamUrl" | "dataDir" | "isPublic">> {
  dialog.say(MENU);
  const kind = await dialog.ask(
    "Number [1]:",
    (text) => KINDS[Number(text || "1") - 1],
    "A number from 1 to 5.",
  );
  const choice = await askChoice(dialog, kind);
  const upstreamUrl =
    choice.kind === "demo"
      ? ""
      : given.upstreamUrl ||
        (await dialog.ask(
          "The snapchain node to follow, by its gRPC port (http://host:3383):",
          (text) => (text !== "" && isNodeUrlOrEmpty(text) ? text : undefined),
          "A URL such as http://host:3383, or https://host:3383.",
        ));
  const dataDir = await dialog.ask(
    `Directory of all data [${given.dataDir}]:`,
    (text) => text.replace(/^~(?=\/)/, homedir()) || given.dataDir,
    "",
  );
  const isPublic =
    given.isPublic ||
    (choice.kind !== "demo" && (await askYesNo(dialog, "Is it for other machines, too?", false)));
  return { choice, upstreamUrl, dataDir, isPublic };
}

/** Asks a question that Enter answers with \`byDefault\`. */
export async function askYesNo(dialog: Dialog, question: string, byDefault: boolean): Promise<boolean> {
  const read = (text: string) =>
    text === "" ? byDefault : /^y(es)?$/i.test(text) ? true : /^no?$/i.test(text) ? false : undefined;
  return await dialog.ask(`${question} [${byDefault ? "Y/n" : "y/N"}]`, read, "y or n.");
}

async function askChoice(dialog: Dialog, kind: (typeof KINDS)[number]): Promise<Choice> {
  switch (kind) {
    case "demo":
    case "all":
      return { kind };
    case "fids":
      return await dialog.ask(
        "Fids, or the name of a file with them:",
        (text): Choice | undefined => {
          const fids = parseFids(text);
          if (fids) return { kind: "fids", fids };
          return /[^\d\s,]/.test(text) ? { kind: "file", path: text } : undefined;
        },
        "Positive numbers with commas between them, or a file.",
      );
    case "channel": {
      const hint = "Such as bread, or the parent URL of its casts.";
      return {
        kind,
        channel: await dialog.ask("The name of the channel:", (text) => text || undefined, hint),
      };
    }
    case "followers":
      return { kind, fid: await dialog.ask("The fid:", parseFid, "A positive number.") };
  }
}
