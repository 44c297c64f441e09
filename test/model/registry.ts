import type { IndexDatabase } from "../../src/db/index/database.ts";
import { importRegistry } from "../../src/import/channel-registry.ts";
import type { RegisteredChannel } from "./view.ts";

/** The imported channel registry, once for the node and once for the model. */

const PINNED = `0x${"cd".repeat(20)}`;

/** In the shape of the public `all-channels` file, with some unknown keys and one row that is not a channel. */
const FILE = {
  result: {
    channels: [
      {
        id: "books",
        url: "https://farcaster.xyz/~/channel/books",
        name: "Books & Letters",
        description: "What we read",
        imageUrl: "https://example.com/books.png",
        leadFid: 3,
        moderatorFids: [4, 99],
        createdAt: 1_700_000_000,
        followerCount: 77,
        memberCount: 12,
        pinnedCastHash: PINNED,
      },
      {
        id: "punks",
        url: "chain://eip155:1/erc721:0xabc",
        name: "art of punks",
        leadFid: 99,
        followerCount: 5,
      },
      { id: "empty", url: "https://warpcast.com/~/channel/empty", name: "Empty", createdAt: 1_710_000_000 },
      { url: "https://warpcast.com/~/channel/nameless" },
    ],
  },
};

export const REGISTERED: readonly RegisteredChannel[] = [
  {
    id: "books",
    registryId: "books",
    url: "https://farcaster.xyz/~/channel/books",
    name: "Books & Letters",
    description: "What we read",
    imageUrl: "https://example.com/books.png",
    leadFid: 3,
    moderatorFids: [4, 99],
    createdAt: 1_700_000_000,
    followerCount: 77,
    pinnedCastHash: PINNED,
  },
  {
    id: "chain://eip155:1/erc721:0xabc",
    registryId: "punks",
    url: "chain://eip155:1/erc721:0xabc",
    name: "art of punks",
    description: null,
    imageUrl: null,
    leadFid: 99,
    moderatorFids: [],
    createdAt: null,
    followerCount: 5,
    pinnedCastHash: null,
  },
  {
    id: "empty",
    registryId: "empty",
    url: "https://warpcast.com/~/channel/empty",
    name: "Empty",
    description: null,
    imageUrl: null,
    leadFid: null,
    moderatorFids: [],
    createdAt: 1_710_000_000,
    followerCount: 0,
    pinnedCastHash: null,
  },
];

/** Imports the file into a node like the command. */
export async function importChannels(db: IndexDatabase, dir: string): Promise<void> {
  const path = `${dir}/channels.json`;
  await Bun.write(path, JSON.stringify(FILE));
  importRegistry(db, path);
}
