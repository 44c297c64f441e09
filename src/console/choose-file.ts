import type { CodedFile } from "./web-build.ts";

export interface ChosenBytes {
  readonly bytes: Uint8Array;
  /** Of `content-encoding`; undefined for the plain file. */
  readonly coding: "br" | "gzip" | undefined;
}

/** Returns the smallest form of a file that a client accepts. */
export function chooseBytes({ br, gzip, body }: CodedFile, acceptEncoding: string | null): ChosenBytes {
  const accepts = acceptedNames(acceptEncoding ?? "");
  if (br && accepts("br")) return { bytes: br, coding: "br" };
  if (gzip && accepts("gzip")) return { bytes: gzip, coding: "gzip" };
  return { bytes: body ?? Bun.gunzipSync(gzip as Uint8Array<ArrayBuffer>), coding: undefined };
}

/** Whether `Accept` names `text/html` itself: what accepts anything gets the JSON of programs. */
export function acceptsHtml(accept: string | null): boolean {
  return acceptedNames(accept ?? "", false)("text/html");
}

/** RFC 9110, 12.4.2: the names of a header with a weight above 0. */
function acceptedNames(header: string, anyCounts = true): (name: string) => boolean {
  const accepted = new Map<string, boolean>();
  for (const item of header.toLowerCase().split(",")) {
    const [name = "", ...parameters] = item.split(";").map((part) => part.trim());
    const weight = parameters.find((parameter) => parameter.startsWith("q="));
    accepted.set(name, weight === undefined || Number(weight.slice(2)) > 0);
  }
  return (name) => accepted.get(name) ?? (anyCounts && accepted.get("*") === true);
}
