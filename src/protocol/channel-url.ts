const CLIENT_HOSTS = ["https://warpcast.com", "https://farcaster.xyz"] as const;
const CLIENT_CHANNEL_URL = /^https:\/\/(?:warpcast\.com|farcaster\.xyz)\/~\/channel\/([^/?#]+)$/;

/** The id of the channel that a parent URL stands for: the name in a client's channel URL, else the URL itself. */
export function channelIdOf(parentUrl: string): string {
  return CLIENT_CHANNEL_URL.exec(parentUrl)?.[1] ?? parentUrl;
}

/** Every parent URL that stands for a channel: both clients' URLs for a name, else the one URL that the id is. */
export function parentUrlsOf(channelId: string): string[] {
  const urls = CLIENT_HOSTS.map((host) => `${host}/~/channel/${channelId}`);
  // An id that is no name in a client's URL is a URL itself.
  return urls.every((url) => channelIdOf(url) === channelId) && !isUrl(channelId) ? urls : [channelId];
}

function isUrl(id: string): boolean {
  return /^[a-z][a-z0-9+.-]*:/i.test(id);
}
