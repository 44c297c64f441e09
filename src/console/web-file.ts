import type { WebFile } from "./web-build.ts";

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  js: "text/javascript; charset=utf-8",
  svg: "image/svg+xml",
  txt: "text/plain; charset=utf-8",
};

/** Returns a file of the page with the content type of its name. */
export function webFile(name: string, content: string | Uint8Array): WebFile {
  const contentType = TYPES[name.split(".").at(-1) ?? ""];
  if (contentType === undefined) throw new Error(`there is no content type for ${name}`);
  return {
    name,
    contentType,
    body: typeof content === "string" ? new TextEncoder().encode(content) : content,
  };
}
