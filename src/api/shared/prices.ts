import { flat, type Price, perIds, perRows } from "../../http/limits/prices.ts";

/** Of a regular expression in a subscription, which is compiled. */
export const EXPRESSION_UNITS = 20;
const streamPrice: Price = ({ query }) => {
  const { text, embeds } = query();
  return 1 + EXPRESSION_UNITS * ((text ? 1 : 0) + (embeds ? 1 : 0));
};

/**
 * Prices of routes in units of about 50 microseconds of CPU, by their path below a prefix. Those that are not listed cost 1: one user, cast,
 * channel, proof or name; storage, registry events, blocks, mutes, signers.
 */
const PRICES: Readonly<Record<string, Price>> = {
  // Lists of users, followers, channels, members, and likes of a cast.
  "/user/bulk": perIds(2),
  "/user/bulk-by-address": perIds(2),
  "/user/by_location": perRows(2),
  "/user/best_friends": perRows(2),
  "/user/interactions": perRows(2),
  "/user/followers": perRows(2),
  "/followers": perRows(2),
  "/followers/reciprocal": perRows(2),
  "/followers/relevant": perRows(2),
  "/user/following": perRows(2),
  "/following": perRows(2),
  "/follows": perRows(2),
  "/channel/all": perRows(2),
  "/channel/list": perRows(2),
  "/channel/bulk": perIds(2),
  "/channel/user": perRows(2),
  "/channel/user-active": perRows(2),
  "/user/channels": perRows(2),
  "/user/memberships/list": perRows(2),
  "/channel/members": perRows(2),
  "/channel/member/list": perRows(2),
  "/channel/followers": perRows(2),
  "/channel/followers/relevant": perRows(2),
  "/channel/trending": perRows(2),
  "/reaction/cast": perRows(2),
  "/reactions/cast": perRows(2),
  // Lists of casts, and the search of channels.
  "/casts": perIds(5),
  "/cast/bulk": perIds(5),
  "/cast/quotes": perRows(5),
  "/feed": perRows(5),
  "/feed/following": perRows(5),
  "/feed/for_you": perRows(5),
  "/feed/topic": perRows(5),
  "/feed/channels": perRows(5),
  "/feed/parent_urls": perRows(5),
  "/feed/trending": perRows(5),
  "/feed/user/casts": perRows(5),
  "/feed/user/popular": perRows(5),
  "/feed/user/replies_and_recasts": perRows(5),
  "/reaction": perRows(5),
  "/reaction/user": perRows(5),
  "/reactions/user": perRows(5),
  "/channel/search": perRows(5),
  // Searches, notifications, conversations.
  "/notifications": perRows(10),
  "/notifications/channel": perRows(10),
  "/notifications/parent_url": perRows(10),
  "/cast/search": perRows(15),
  "/user/search": perRows(15),
  "/cast/conversation": perRows(15),
  "/cast/conversation/summary": perRows(15),
  "/following/suggested": perRows(200),
  "/stream": streamPrice,
};

/** A list of the hub is priced by the page that is asked for; its look-ups cost 1. */
const hubPrice: Price = (asked) => (asked.rows() === 0 ? 1 : perRows(5)(asked));

/** Of a submit of one message; a bulk costs 2 more for each further one. */
export const SUBMIT_UNITS = 20;

/** The price of a route by the template of its whole path; undefined for the usual one. */
export function priceOf(template: string): Price | undefined {
  if (template.startsWith("/v1/submit")) return flat(SUBMIT_UNITS);
  return template.startsWith("/v1/") ? hubPrice : PRICES[template.replace(/^\/v2\/[^/]+/, "")];
}
