/** The shard of the block chain. It decides storage lends and gasless keys, and has no hub events. */
export const BLOCK_SHARD = 0;
