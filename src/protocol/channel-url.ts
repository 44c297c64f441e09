const CLIENT_HOSTS = ["https://warpcast.com", "https://farcaster.xyz"] as const;
const CLIENT_CHANNEL_URL = /^https:\/\/(?:warpcast\.com|farcaster\.xyz)\/~\/channel\/([^/?#]+)$/;

/** Cache of ids by URL. Most responses refer to the same few channels. */
const idsByUrl = new Map<string, string>();
const MAX_IDS = 2000;
/** The protocol's limit for a URL in a message. A query may contain longer ones, which are not cached. */
const MAX_CACHED_CHARS = 256;

/**
 * Returns the id of the channel that a parent URL stands for: the name in a client's channel URL, otherwise the URL itself.
 */
export function channelIdOf(parentUrl: string): string {
  let id = idsByUrl.get(parentUrl);
  if (id === undefined) {
    const name = CLIENT_CHANNEL_URL.exec(parentUrl)?.[1];
    // A name that is itself a URL would collide with the id of that URL.
    id = name === undefined || isUrl(name) ? parentUrl : name;
    if (parentUrl.length > MAX_CACHED_CHARS) return id;
    if (idsByUrl.size >= MAX_IDS) idsByUrl.clear();
    idsByUrl.set(parentUrl, id);
  }
  return id;
}

/**
 * Returns every parent URL that stands for a channel, the canonical one first: both clients' URLs for a name, otherwise the
 * URL that is the id. The protocol accepts any text as a parent URL, so the bare name belongs to the channel too.
 */
export function parentUrlsOf(channelId: string): string[] {
  const urls = CLIENT_HOSTS.map((host) => `${host}/~/channel/${channelId}`);
  return urls.every((url) => channelIdOf(url) === channelId) ? [...urls, channelId] : [channelId];
}

function isUrl(id: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(id);
}
