import { WireType } from "@bufbuild/protobuf/wire";
import type { Codec } from "./connection.ts";

/** A node of the network, as announced by another node's gossip. */
export interface Contact {
  readonly network: number;
  /** Address of its gRPC service, as it reports; empty if it does not. */
  readonly rpcAddress: string;
}

const MAX_CONTACTS = 1000;
const CONTACTS = 1;
const NETWORK = 4;
const RPC_ADDRESS = 6;

/**
 * Decodes the contacts in `GetConnectedPeers` that the node has collected. Its other list has the addresses of connections,
 * at which nodes do not serve.
 */
export const CONNECTED_PEERS: Codec<readonly Contact[]> = {
  encode: () => {
    throw new Error("a follower does not serve contacts");
  },
  decode: (reader) => {
    const contacts: Contact[] = [];
    while (reader.pos < reader.len) {
      const [field, type] = reader.tag();
      if (field !== CONTACTS || type !== WireType.LengthDelimited) {
        reader.skip(type, field);
        continue;
      }
      const end = reader.uint32() + reader.pos;
      let [network, rpcAddress] = [0, ""];
      while (reader.pos < end) {
        const [inner, innerType] = reader.tag();
        if (inner === NETWORK && innerType === WireType.Varint) network = reader.int32();
        else if (inner === RPC_ADDRESS && innerType === WireType.LengthDelimited)
          rpcAddress = reader.string();
        else reader.skip(innerType, inner);
      }
      if (contacts.length < MAX_CONTACTS) contacts.push({ network, rpcAddress });
    }
    return contacts;
  },
};
