import { isLanguage, type Language } from "../page-settings.ts";

/** What a page has of them; programs that use its functions have none. */
const { document, navigator } = globalThis as {
  readonly document?: { readonly documentElement: { readonly lang: string } };
  readonly navigator?: { readonly languages?: readonly string[] };
};

const lang = document?.documentElement.lang;
/** The language of the texts that this script has: that of the document. */
export const language: Language = isLanguage(lang) ? lang : "en";

/** The visitor's own variant of the language, for numbers and dates. */
export const locale: string = (document && navigator?.languages?.find(isVariant)) ?? language;

function isVariant(tag: string): boolean {
  try {
    return new Intl.Locale(tag).language === language;
  } catch {
    // Such as `en-US@posix`.
    return false;
  }
}
