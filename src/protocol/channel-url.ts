const CLIENT_HOSTS = ["https://warpcast.com", "https://farcaster.xyz"] as const;
const CLIENT_CHANNEL_URL = /^https:\/\/(?:warpcast\.com|farcaster\.xyz)\/~\/channel\/([^/?#]+)$/;

/** The id of the channel that a parent URL stands for: the name in a client's channel URL, else the URL itself. */
export function channelIdOf(parentUrl: string): string {
  const name = CLIENT_CHANNEL_URL.exec(parentUrl)?.[1];
  // A name that reads like a URL would be taken for the id of that URL.
  return name === undefined || isUrl(name) ? parentUrl : name;
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
