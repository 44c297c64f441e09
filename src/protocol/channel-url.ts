const CLIENT_HOSTS = ["https://warpcast.com", "https://farcaster.xyz"] as const;
const CLIENT_CHANNEL_URL = /^https:\/\/(?:warpcast\.com|farcaster\.xyz)\/~\/channel\/([^/?#]+)$/;

/** Ids by URL: the same few channels are in most of what is shown. */
const idsByUrl = new Map<string, string>();
const MAX_IDS = 2000;
/** Of a URL in a message; a reader may ask for longer ones. */
const MAX_KEPT_CHARS = 256;

/** The id of the channel that a parent URL stands for: the name in a client's channel URL, else the URL itself. */
export function channelIdOf(parentUrl: string): string {
  let id = idsByUrl.get(parentUrl);
  if (id === undefined) {
    const name = CLIENT_CHANNEL_URL.exec(parentUrl)?.[1];
    // A name that reads like a URL would be taken for the id of that URL.
    id = name === undefined || isUrl(name) ? parentUrl : name;
    if (parentUrl.length > MAX_KEPT_CHARS) return id;
    if (idsByUrl.size >= MAX_IDS) idsByUrl.clear();
    idsByUrl.set(parentUrl, id);
  }
  return id;
}

/**
 * Every parent URL that stands for a channel, the canonical one first: both clients' URLs for a name, else the one URL
 * that the id is. The protocol takes any text as a parent URL, so the bare name is one of the channel's as well.
 */
export function parentUrlsOf(channelId: string): string[] {
  if (isUrl(channelId)) return [channelId];
  const urls = CLIENT_HOSTS.map((host) => `${host}/~/channel/${channelId}`);
  return urls.every((url) => channelIdOf(url) === channelId) ? [...urls, channelId] : [channelId];
}

function isUrl(id: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(id);
}
