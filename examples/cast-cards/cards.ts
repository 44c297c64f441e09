import { Configuration, NeynarAPIClient } from "@neynar/nodejs-sdk";

/** What a card reads of a cast, in the shape of the hosted API. */
interface CardCast {
  readonly hash: string;
  readonly text: string;
  readonly author: {
    readonly username: string;
    readonly display_name?: string | null;
    readonly score?: number;
    readonly experimental?: { readonly neynar_user_score?: number };
    readonly viewer_context?: { readonly blocking?: boolean; readonly blocked_by?: boolean };
  };
  readonly embeds: readonly object[];
}

interface UrlEmbed {
  readonly url: string;
  readonly metadata?: {
    readonly content_type?: string | null;
    readonly image?: { readonly width_px?: number; readonly height_px?: number };
    readonly html?: {
      readonly ogTitle?: string;
      readonly ogDescription?: string;
      readonly ogImage?: readonly { readonly url: string }[];
    };
    readonly frame?: { readonly image?: string; readonly title?: string; readonly frames_url?: string };
  };
}

/** Below it an account is more likely to be spam: the threshold that most apps of the hosted API take. */
const MIN_SCORE = 0.55;

const STYLE = ".low { opacity: 0.4 } .page { display: block; border: 1px solid; padding: 1em }";

const escaped = (text: string) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);

/** The preview of one embed: a picture, a mini app with its button, the card of a page, or a plain link. */
function embedHtml({ url, metadata }: UrlEmbed): string {
  const link = escaped(url);
  if (!/^https?:/.test(url)) return "";
  if (metadata?.content_type?.startsWith("image/")) {
    const { width_px: width = 480, height_px: height = 270 } = metadata.image ?? {};
    return `<img src="${link}" width="${width}" height="${height}" alt="" loading="lazy" referrerpolicy="no-referrer">`;
  }
  const { frame, html } = metadata ?? {};
  if (frame?.frames_url)
    return `<a class="app" href="${escaped(frame.frames_url)}">${escaped(frame.title ?? "Open")}</a>`;
  if (html?.ogTitle) {
    const description = html.ogDescription ? `<p>${escaped(html.ogDescription)}</p>` : "";
    return `<a class="page" href="${link}"><b>${escaped(html.ogTitle)}</b>${description}</a>`;
  }
  return `<a href="${link}">${link}</a>`;
}

/** The card of a cast; empty for one by somebody whom the viewer blocks, or who blocks the viewer. */
export function cardHtml(cast: CardCast): string {
  const { author, text, embeds } = cast;
  if (author.viewer_context?.blocking || author.viewer_context?.blocked_by) return "";
  const score = author.experimental?.neynar_user_score ?? author.score;
  const quality = score === undefined || score >= MIN_SCORE ? "" : " low";
  const urls = embeds.filter((embed): embed is UrlEmbed => "url" in embed);
  return `<article class="cast${quality}"><h2>${escaped(author.display_name || author.username)}</h2><p>${escaped(text)}</p>${urls.map(embedHtml).join("")}</article>`;
}

export function pageHtml(casts: readonly CardCast[]): string {
  const cards = casts.map(cardHtml).join("\n");
  return `<!doctype html><meta charset="utf-8"><title>Casts</title><style>${STYLE}</style><h1>Casts</h1>\n${cards || "<p>Nothing to show</p>"}`;
}

if (import.meta.main) {
  const {
    BASE_URL: basePath = "https://api.neynar.com",
    API_KEY: apiKey = "",
    VIEWER_FID = "16",
  } = process.env;
  const client = new NeynarAPIClient(new Configuration({ apiKey, basePath }));
  const { casts } = await client.fetchFeed({
    feedType: "following",
    fid: Number(VIEWER_FID),
    viewerFid: Number(VIEWER_FID),
    limit: 25,
  });
  console.log(pageHtml(casts));
}
