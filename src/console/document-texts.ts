import { preferredLanguage } from "./assets.ts";
import type { Language } from "./web/page-settings.ts";
import * as de from "./web/text/de/outside/documents.ts";
import * as en from "./web/text/en/outside/documents.ts";

/** The texts that the node writes into the pages of sign-in and approval. */
export type DocumentTexts = typeof en;

const TEXTS: Readonly<Record<Language, DocumentTexts>> = { en, de };

/** Returns the language that a browser asks for, with its texts. */
export function documentLanguage(request: Request): {
  readonly language: Language;
  readonly msg: DocumentTexts;
} {
  const language = preferredLanguage(request.headers.get("accept-language"));
  return { language, msg: TEXTS[language] };
}
