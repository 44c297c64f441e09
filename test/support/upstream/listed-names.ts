import type { UserNameProof } from "../../../src/protocol/wire/generated/message.ts";

/**
 * The fname that the reference node lists for each fid: the last that it got, and none once any fname of it has moved to another fid.
 */
export class ListedNames {
  readonly #names = new Map<number, string>();
  readonly #owners = new Map<string, number>();

  /** Takes the next transfer of an fname. */
  take({ name: bytes, fid }: UserNameProof): void {
    const name = Buffer.from(bytes).toString();
    const before = this.#owners.get(name);
    if (before !== undefined && before !== fid) this.#names.delete(before);
    this.#owners.set(name, fid);
    this.#names.set(fid, name);
  }

  nameOf(fid: number): string | undefined {
    return this.#names.get(fid);
  }

  isListed(name: string): boolean {
    return this.#names.get(this.#owners.get(name) ?? 0) === name;
  }
}
