import { describe, expect, test } from "bun:test";
import { appendFileSync, writeFileSync } from "node:fs";
import fc from "fast-check";
import {
  encodeEnvelope,
  type FileEnd,
  type FileRecord,
  MAX_RECORD_BYTES,
  readRecords,
} from "../../src/import/record-file.ts";
import { writeRecords } from "../../src/import/write-records.ts";
import type { EncodedRecord } from "../../src/ingest/record.ts";
import { tempDir } from "../support/program.ts";
import { expectOk } from "../support/result.ts";

function record(size: number, byte = 1): EncodedRecord {
  return { kind: "message", bytes: new Uint8Array(size).fill(byte) };
}

async function readAll(path: string, fromOffset = 0): Promise<{ records: FileRecord[]; end: FileEnd }> {
  const records: FileRecord[] = [];
  let end: FileEnd | undefined;
  for await (const step of readRecords(path, { fromOffset })) {
    if (end) throw new Error("the end was not the last step");
    if (step.kind === "end") end = step;
    else records.push(step);
  }
  if (!end) throw new Error("the reading had no end");
  return { records, end };
}

describe("a file of records", () => {
  test("returns the written records, over many chunks and from the end of any record", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    const written = Array.from({ length: 900 }, (_, index) => record((index * 37) % 3000, index % 251));
    expect(await writeRecords(path, written)).toEqual({ records: 900, bytes: Bun.file(path).size });
    const { records, end } = await readAll(path);
    expect(records.map(({ content }) => expectOk(content))).toEqual(written);
    expect(end).toMatchObject({ outcome: "complete", offset: Bun.file(path).size });
    for (const place of [0, 1, 450, 898, 899]) {
      const rest = await readAll(path, records[place]?.endOffset);
      expect(rest.records.map(({ content }) => expectOk(content))).toEqual(written.slice(place + 1));
      expect(rest.records[0]?.offset ?? end.offset).toBe(records[place]?.endOffset ?? -1);
    }
  });

  test("an empty file is complete, and so is a file read from its end", async () => {
    using dir = tempDir();
    const path = `${dir.path}/empty`;
    expect(await writeRecords(path, [])).toEqual({ records: 0, bytes: 0 });
    expect(await readAll(path)).toMatchObject({ records: [], end: { outcome: "complete", offset: 0 } });
    await writeRecords(path, [record(10)]);
    const size = Bun.file(path).size;
    expect(await readAll(path, size)).toMatchObject({
      records: [],
      end: { outcome: "complete", offset: size },
    });
  });

  test("returns an unreadable record as a refusal at its offset, and the records after it", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    const good = encodeEnvelope(record(50));
    const bad = Uint8Array.of(3, 0xff, 0xff, 0xff);
    writeFileSync(path, Buffer.concat([good, bad, Uint8Array.of(0), good]));
    const { records, end } = await readAll(path);
    expect(records.map(({ offset }) => offset)).toEqual([0, good.length, good.length + 4, good.length + 5]);
    expect(records.map(({ content }) => content.ok)).toEqual([true, false, false, true]);
    expect(end.outcome).toBe("complete");
  });

  test("reports the offset at which a file is truncated; with the rest appended it is complete", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    const frame = encodeEnvelope(record(5000));
    for (const kept of [1, 2, 2500, frame.length - 1]) {
      writeFileSync(path, Buffer.concat([frame, frame.subarray(0, kept)]));
      const { records, end } = await readAll(path);
      expect(records.length).toBe(1);
      expect(end).toMatchObject({ outcome: "truncated", offset: frame.length });
      expect(end.detail).toContain(`at byte ${frame.length}`);
      appendFileSync(path, frame.subarray(kept));
      expect(await readAll(path, end.offset)).toMatchObject({ records: [{}], end: { outcome: "complete" } });
    }
  });

  test("ends at a record above the size limit and accepts one at the limit", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    const tag = encodeEnvelope(record(MAX_RECORD_BYTES - 100)).length - (MAX_RECORD_BYTES - 100);
    const largest = record(MAX_RECORD_BYTES - (tag - 3));
    await writeRecords(path, [record(10), largest, record(10)]);
    expect(await readAll(path)).toMatchObject({ records: [{}, {}, {}], end: { outcome: "complete" } });
    await writeRecords(path, [record(10), record(largest.bytes.length + 1), record(10)]);
    const { records, end } = await readAll(path);
    expect(records.length).toBe(1);
    expect(end).toMatchObject({ outcome: "unreadable", offset: records[0]?.endOffset ?? -1 });
    expect(end.detail).toContain(`at byte ${end.offset}`);
  });

  test("files of any bytes end with exactly one FileEnd", async () => {
    using dir = tempDir();
    const path = `${dir.path}/garbage`;
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 2000 }), async (bytes) => {
        writeFileSync(path, bytes);
        const { records, end } = await readAll(path);
        const read = records.reduce((sum, { offset, endOffset }) => sum + endOffset - offset, 0);
        expect(end.offset).toBe(read);
        if (end.outcome === "complete") expect(read).toBe(bytes.length);
        else expect(read).toBeLessThan(bytes.length);
      }),
      { numRuns: 200 },
    );
  });

  test("writing replaces an existing file", async () => {
    using dir = tempDir();
    const path = `${dir.path}/records`;
    await writeRecords(path, [record(1000), record(1000)]);
    await writeRecords(path, [record(3)]);
    expect((await readAll(path)).records.map(({ content }) => expectOk(content))).toEqual([record(3)]);
  });

  test("throws the file system's error if the file does not exist", async () => {
    using dir = tempDir();
    await expect(readAll(`${dir.path}/nothing`)).rejects.toThrow("ENOENT");
  });
});
