import { decodeHTML, decodeHTMLAttribute } from "entities";
import type { PreviewHtml, PreviewPicture } from "../../read/hydrate/previews.ts";
import { cleanPixels, cleanText, cleanUrl, defined } from "./clean.ts";
import { type Frame, frameOf } from "./frame.ts";

export interface ParsedPage {
  readonly html: PreviewHtml;
  readonly frame: Frame | undefined;
  /** URL of the page's oEmbed data. */
  readonly oembedUrl: string | undefined;
}

const MAX_CHARS = 256 * 1024;
const MAX_METAS = 200;
const MAX_ELEMENTS = 2_000;
const MAX_PICTURES = 4;
const MAX_VALUE_CHARS = 16 * 1024;
const MAX_SHORT_CHARS = 300;
const MAX_DESCRIPTION_CHARS = 1000;

/** Any other element starts the body, in which strangers may write. */
const OF_HEAD = new Set([
  "html",
  "head",
  "meta",
  "title",
  "link",
  "script",
  "style",
  "base",
  "noscript",
  "template",
]);

/** Open Graph texts by property. */
const TEXTS: Readonly<Record<string, string>> = {
  "og:site_name": "ogSiteName",
  "og:type": "ogType",
  "og:locale": "ogLocale",
  "og:determiner": "ogDeterminer",
  "og:availability": "ogAvailability",
  "og:price:amount": "ogPriceAmount",
  "og:price:currency": "ogPriceCurrency",
  "article:author": "ogArticleAuthor",
  "article:section": "ogArticleSection",
  "article:tag": "ogArticleTag",
  "article:publisher": "ogArticlePublisher",
  "article:published_time": "ogArticlePublishedTime",
  "article:modified_time": "ogArticleModifiedTime",
};
const URLS: Readonly<Record<string, string>> = {
  "og:url": "ogUrl",
  "og:audio": "ogAudio",
  "og:logo": "ogLogo",
};

const HEAD_ENDED = Symbol("the head has ended");

/** Parses the head of a page. Ignores its body. */
export function parsePage(page: string, url: string): ParsedPage {
  const head = readHead(page.slice(0, MAX_CHARS));
  const { metas, list, links } = head;
  const meta = (...names: readonly string[]) =>
    names.map((name) => metas.get(name)).find((text) => text !== undefined);
  const named: Record<string, string | undefined> = {};
  for (const [name, key] of Object.entries(TEXTS)) named[key] = cleanText(metas.get(name), MAX_SHORT_CHARS);
  for (const [name, key] of Object.entries(URLS)) named[key] = cleanUrl(metas.get(name), url);
  const ogImage = picturesOf(list, "og:image", url);
  const lone = cleanUrl(meta("twitter:image", "twitter:image:src"), url);
  const ogVideo = picturesOf(list, "og:video", url);
  const icon = links.find(({ rel }) => /(?:^|\s)(?:shortcut\s+)?icon(?:\s|$)/i.test(rel));
  const oembed = links.find(({ type }) => type === "application/json+oembed");
  return {
    html: defined({
      ogTitle: cleanText(meta("og:title", "twitter:title") ?? head.title, MAX_SHORT_CHARS),
      ogDescription: cleanText(
        meta("og:description", "twitter:description", "description"),
        MAX_DESCRIPTION_CHARS,
      ),
      ...named,
      ogImage: ogImage.length > 0 ? ogImage : lone === undefined ? undefined : [{ url: lone }],
      ogVideo: ogVideo.length > 0 ? ogVideo : undefined,
      favicon: icon && cleanUrl(icon.href, url),
    }),
    frame: frameOf(metas, url),
    oembedUrl: oembed && cleanUrl(oembed.href, url),
  };
}

interface Head {
  /** First content of each name. */
  readonly metas: ReadonlyMap<string, string>;
  readonly list: readonly (readonly [name: string, content: string])[];
  readonly links: readonly { readonly rel: string; readonly type: string; readonly href: string }[];
  readonly title: string;
}

function readHead(page: string): Head {
  const metas = new Map<string, string>();
  const list: [string, string][] = [];
  const links: { rel: string; type: string; href: string }[] = [];
  let title = "";
  let elements = 0;
  const attribute = (element: HTMLRewriterTypes.Element, name: string) => {
    const value = element.getAttribute(name);
    return value === null ? undefined : decodeHTMLAttribute(value.slice(0, MAX_VALUE_CHARS));
  };
  const rewriter = new HTMLRewriter()
    .on("*", {
      element(element) {
        const { tagName } = element;
        if (!OF_HEAD.has(tagName) || ++elements > MAX_ELEMENTS) throw HEAD_ENDED;
        if (tagName === "meta" && list.length < MAX_METAS) {
          const name = (attribute(element, "property") ?? attribute(element, "name"))?.trim().toLowerCase();
          const content = attribute(element, "content");
          if (name === undefined || content === undefined) return;
          list.push([name, content]);
          if (!metas.has(name)) metas.set(name, content);
        } else if (tagName === "link" && links.length < MAX_METAS) {
          const href = attribute(element, "href");
          if (href === undefined) return;
          links.push({ href, rel: attribute(element, "rel") ?? "", type: attribute(element, "type") ?? "" });
        }
      },
    })
    .on("title", {
      text({ text }) {
        if (title.length < MAX_SHORT_CHARS * 8) title += text;
      },
    });
  try {
    rewriter.transform(page);
  } catch (cause) {
    if (cause !== HEAD_ENDED) throw cause;
  }
  return { metas, list, links, title: decodeHTML(title) };
}

/** Returns the pictures or videos of a page: each is a URL with the properties that follow it. */
function picturesOf(list: Head["list"], property: string, base: string): PreviewPicture[] {
  const found: { -readonly [Key in keyof PreviewPicture]: PreviewPicture[Key] }[] = [];
  for (const [name, content] of list) {
    if (name === property || name === `${property}:url` || name === `${property}:secure_url`) {
      const url = cleanUrl(content, base);
      const last = found.at(-1);
      if (url === undefined) continue;
      // A secure URL belongs to the picture before it.
      if (name === `${property}:secure_url` && last) last.url = url;
      else if (last?.url === url) continue;
      else if (found.length < MAX_PICTURES) found.push({ url });
      else break;
      continue;
    }
    const last = found.at(-1);
    if (!last || !name.startsWith(`${property}:`)) continue;
    const kind = name.slice(property.length + 1);
    if (kind === "width" || kind === "height") {
      const pixels = cleanPixels(content);
      if (pixels !== undefined) last[kind] ??= pixels;
    } else if (kind === "type" || kind === "alt") {
      const text = cleanText(content, MAX_SHORT_CHARS);
      if (text !== undefined) last[kind] ??= text;
    }
  }
  return found;
}
