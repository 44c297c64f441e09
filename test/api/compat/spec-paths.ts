/** Requests of every kind of read under the native prefix, about users and casts of the demo network. */
export function specPaths(facts: {
  readonly fids: readonly number[];
  readonly hashes: readonly string[];
  readonly channels: readonly string[];
  readonly urls: readonly string[];
  readonly names: readonly string[];
  readonly addresses: readonly string[];
}): string[] {
  const { fids, hashes, channels, urls, names, addresses } = facts;
  const ofFid = (fid: number) => [
    `/user?fid=${fid}`,
    `/user/verifications?fid=${fid}`,
    `/user/storage-allocations?fid=${fid}`,
    `/user/storage-usage?fid=${fid}`,
    `/user/channels?fid=${fid}`,
    `/user/memberships/list?fid=${fid}`,
    `/user/best_friends?fid=${fid}`,
    `/user/interactions?fid=${fid}&target_fid=${fids[0]}`,
    `/user/balance?fid=${fid}`,
    `/user/subscribed_to?fid=${fid}`,
    `/user/subscribers?fid=${fid}`,
    `/user/subscriptions_created?fid=${fid}`,
    `/followers?fid=${fid}&limit=5`,
    `/user/following?fid=${fid}&limit=5`,
    `/followers/relevant?fid=${fid}`,
    `/followers/reciprocal?fid=${fid}`,
    `/following/suggested?fid=${fid}`,
    `/feed?feed_type=following&fid=${fid}`,
    `/feed/following?fid=${fid}`,
    `/feed/for_you?fid=${fid}`,
    `/feed/user/casts?fid=${fid}`,
    `/feed/user/popular?fid=${fid}`,
    `/feed/user/replies_and_recasts?fid=${fid}`,
    `/reactions/user?fid=${fid}&type=likes`,
    `/block/list?fid=${fid}`,
    `/mute/list?fid=${fid}`,
    `/channel/user?fid=${fid}`,
    `/notifications?fid=${fid}`,
    `/notifications/channel?fid=${fid}&channel_ids=${channels.join()}`,
    `/notifications/parent_url?fid=${fid}&parent_urls=${encodeURIComponent(urls.join())}`,
    `/onchain/signers?fid=${fid}`,
    `/signer/developer_managed?fid=${fid}`,
  ];
  const ofHash = (hash: string) => [
    `/cast?identifier=${hash}&type=hash`,
    `/cast/conversation?identifier=${hash}&type=hash&reply_depth=3`,
    `/cast/quotes?identifier=${hash}&type=hash`,
    `/cast/conversation/summary?identifier=${hash}`,
    `/reactions/cast?hash=${hash}&types=likes`,
  ];
  const ofChannel = (id: string) => [
    `/channel?id=${id}`,
    `/channel/members?channel_id=${id}`,
    `/channel/followers?channel_id=${id}`,
    `/channel/followers/relevant?channel_id=${id}`,
    `/channel/member/invite/list?channel_id=${id}`,
    `/channel/search?q=${id.slice(0, 2)}`,
    `/feed/channels?channel_ids=${id}`,
  ];
  return [
    ...fids.flatMap(ofFid),
    ...hashes.flatMap(ofHash),
    ...channels.flatMap(ofChannel),
    ...urls.map((url) => `/feed/parent_urls?parent_urls=${encodeURIComponent(url)}`),
    ...names.flatMap((name) => [
      `/user/by_username?username=${name}`,
      `/user/search?q=${name.slice(0, 3)}`,
      `/fname/availability?fname=${name}`,
      `/username-proof?name=${name}`,
      `/user/by_x_username?username=demo_${name}`,
    ]),
    ...addresses.flatMap((address) => [
      `/user/bulk-by-address?addresses=${address}`,
      `/user/custody-address?custody_address=${address}`,
      `/onchain/id_registry_event?address=${address}`,
    ]),
    `/user/bulk?fids=${fids.join()}`,
    `/cast/bulk?hashes=${hashes.join()}`,
    `/casts?casts=${hashes.join()}`,
    `/channel/bulk?ids=${channels.join()}`,
    "/user/by_location?location=geo:55.95,-3.19",
    "/user/fid?limit=5",
    "/user/power_users",
    "/cast/search?q=bread",
    "/cast/metrics?q=bread",
    "/cast/embed/crawl?url=https://example.com",
    "/channel/all?limit=5",
    "/channel/trending",
    "/feed/trending",
    "/feed/topic?slug=a",
    "/ban/list",
    "/signer/list?fid=3",
    "/nothing/here",
    "/user?fid=x",
    "/cast?identifier=0x12&type=hash",
  ];
}
