import { isLanguage, type Language } from "../page-settings.ts";

/** A page has these; programs that use its functions do not. */
const { document, navigator } = globalThis as {
  readonly document?: { readonly documentElement: { readonly lang: string } };
  readonly navigator?: { readonly languages?: readonly string[] };
};

const lang = document?.documentElement.lang;
/** The language of the texts in this script: that of the document. */
export const language: Language = isLanguage(lang) ? lang : "en";

/** The visitor's own variant of the language, for numbers and dates. */
export const locale: string = (document && navigator?.languages?.find(isVariant)) ?? language;

function isVariant(tag: string): boolean {
  try {
    return new Intl.Locale(tag).language === language;
  } catch {
    // For example `en-US@posix`.
    return false;
  }
}
