const CLIENT_CHANNEL_URL = /^https:\/\/(?:warpcast\.com|farcaster\.xyz)\/~\/channel\/([^/?#]+)$/;

/** The id of the channel that a parent URL stands for: the name in a client's channel URL, else the URL itself. */
export function channelIdOf(parentUrl: string): string {
  return CLIENT_CHANNEL_URL.exec(parentUrl)?.[1] ?? parentUrl;
}
