import type { PreviewFrame } from "../../read/hydrate/previews.ts";
import { cleanText, cleanUrl, defined } from "./clean.ts";

/** A mini app, or a frame of the first version with its buttons. Names follow the hosted API. */
export interface Frame extends PreviewFrame {
  readonly buttons?: readonly FrameButton[];
  readonly post_url?: string;
  readonly image_aspect_ratio?: string;
  readonly input?: { readonly text?: string };
  readonly state?: { readonly serialized?: string };
}

interface FrameButton {
  readonly index: number;
  readonly title?: string;
  readonly action_type: (typeof ACTIONS)[number];
  readonly target?: string;
  readonly post_url?: string;
}

const ACTIONS = ["post", "post_redirect", "tx", "link", "mint"] as const;
const MAX_TITLE_CHARS = 100;
const MAX_STATE_CHARS = 4096;

/** Returns the frame that the `fc:` metas of a page describe; undefined for any other page. */
export function frameOf(metas: ReadonlyMap<string, string>, pageUrl: string): Frame | undefined {
  const embed = miniAppOf(metas.get("fc:miniapp"), pageUrl) ?? miniAppOf(metas.get("fc:frame"), pageUrl);
  return embed ?? (metas.get("fc:frame") === "vNext" ? firstKindOf(metas, pageUrl) : undefined);
}

function miniAppOf(text: string | undefined, pageUrl: string): Frame | undefined {
  if (text === undefined || !text.trimStart().startsWith("{")) return undefined;
  const value = parsed(text);
  const image = cleanUrl(value?.imageUrl, pageUrl);
  const version = cleanText(value?.version, 20);
  if (!value || image === undefined || version === undefined) return undefined;
  const button = objectOf(value.button);
  const action = objectOf(button?.action);
  const title = cleanText(button?.title, MAX_TITLE_CHARS);
  return {
    version,
    image,
    frames_url: cleanUrl(action?.url, pageUrl) ?? pageUrl,
    ...(title !== undefined && { title }),
  };
}

function firstKindOf(metas: ReadonlyMap<string, string>, pageUrl: string): Frame | undefined {
  const image = cleanUrl(metas.get("fc:frame:image"), pageUrl);
  if (image === undefined) return undefined;
  const buttons = [1, 2, 3, 4].flatMap((index) => buttonOf(metas, index, pageUrl) ?? []);
  const input = cleanText(metas.get("fc:frame:input:text"), MAX_TITLE_CHARS);
  const state = cleanText(metas.get("fc:frame:state"), MAX_STATE_CHARS);
  const ratio = metas.get("fc:frame:image:aspect_ratio");
  return {
    version: "vNext",
    image,
    frames_url: pageUrl,
    ...defined({
      title: cleanText(metas.get("og:title"), MAX_TITLE_CHARS),
      image_aspect_ratio: ratio === "1:1" || ratio === "1.91:1" ? ratio : undefined,
      post_url: cleanUrl(metas.get("fc:frame:post_url"), pageUrl),
      input: input === undefined ? undefined : { text: input },
      state: state === undefined ? undefined : { serialized: state },
    }),
    buttons,
  };
}

function buttonOf(
  metas: ReadonlyMap<string, string>,
  index: number,
  pageUrl: string,
): FrameButton | undefined {
  const name = `fc:frame:button:${index}`;
  const title = cleanText(metas.get(name), MAX_TITLE_CHARS);
  if (title === undefined) return undefined;
  const action = ACTIONS.find((one) => one === metas.get(`${name}:action`)) ?? "post";
  return {
    index,
    title,
    action_type: action,
    ...defined({
      // For `mint`, the target is a CAIP-10 name.
      target:
        action === "mint"
          ? cleanText(metas.get(`${name}:target`), 256)
          : cleanUrl(metas.get(`${name}:target`), pageUrl),
      post_url: cleanUrl(metas.get(`${name}:post_url`), pageUrl),
    }),
  };
}

type Members = Readonly<Record<string, unknown>>;

function objectOf(value: unknown): Members | undefined {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Members)
    : undefined;
}

function parsed(text: string): Members | undefined {
  try {
    return objectOf(JSON.parse(text));
  } catch {
    return undefined;
  }
}
