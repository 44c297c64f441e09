import { expect, test } from "bun:test";
import { FLAP_SECS, type IncidentStore } from "../../src/checks/incident-store.ts";

export interface IncidentFixture extends AsyncDisposable {
  readonly incidents: IncidentStore;
  /** Whether several decisions may be made at once. */
  readonly isConcurrent: boolean;
}

/** The guarantees of the incidents, over any implementation. */
export function incidentStoreContract(open: () => Promise<IncidentFixture>): void {
  const opening = (id: string, nodeId = "a", checkId = "disk") =>
    ({ incidentId: id, checkId, nodeId, severity: "warning", sentence: `the disk of ${nodeId}` }) as const;

  test("a check of a node has one open incident, also if several open it at once", async () => {
    await using fixture = await open();
    const { incidents } = fixture;
    const ids = ["i1", "i2", "i3"];
    const opened = fixture.isConcurrent
      ? await Promise.all(ids.map((id) => incidents.open(opening(id), 1000)))
      : await Array.fromAsync(ids, (id) => incidents.open(opening(id), 1000));
    expect(opened.filter(({ isChanged }) => isChanged)).toHaveLength(1);
    expect(new Set(opened.map(({ incident }) => incident.incidentId)).size).toBe(1);
    await incidents.open(opening("i4", "b"), 1001);
    await incidents.open(opening("i5", ""), 1002);
    expect((await incidents.list(0, 10)).map(({ nodeId }) => nodeId)).toEqual(["", "b", "a"]);
    expect((await incidents.openOf("a")).map(({ nodeId }) => nodeId).sort()).toEqual(["", "a"]);
  });

  test("an incident that reopens within half an hour is the same one; later it is a new one", async () => {
    await using fixture = await open();
    const { incidents } = fixture;
    await incidents.open(opening("i1"), 1000);
    expect(await incidents.resolve("disk", "a", 2000)).toBe(true);
    expect(await incidents.resolve("disk", "a", 2001)).toBe(false);
    const again = await incidents.open({ ...opening("i2"), sentence: "worse" }, 2000 + FLAP_SECS);
    expect(again).toMatchObject({
      isChanged: true,
      incident: { incidentId: "i1", flaps: 1, openedAt: 1000, resolvedAt: null, sentence: "worse" },
    });
    await incidents.resolve("disk", "a", 5000);
    const later = await incidents.open(opening("i3"), 5001 + FLAP_SECS);
    expect(later.incident).toMatchObject({ incidentId: "i3", flaps: 0 });
    expect((await incidents.list(0, 10)).map(({ incidentId }) => incidentId)).toEqual(["i3", "i1"]);
  });

  test("a list has every open incident, and resolved ones that opened lately", async () => {
    await using fixture = await open();
    const { incidents } = fixture;
    await incidents.open(opening("old", "a"), 10);
    await incidents.open(opening("ended", "b"), 20);
    await incidents.resolve("disk", "b", 30);
    await incidents.open(opening("new", "c"), 1000);
    await incidents.resolve("disk", "c", 1001);
    expect((await incidents.list(500, 10)).map(({ incidentId }) => incidentId)).toEqual(["old", "new"]);
  });

  test("the operator acknowledges, writes and mutes; an unknown incident changes nothing", async () => {
    await using fixture = await open();
    const { incidents } = fixture;
    await incidents.open(opening("i1"), 1000);
    expect(await incidents.acknowledge("i1", "ann@host", "a disk is on its way", 1100)).toBe(true);
    expect(await incidents.acknowledge("i1", "bob@host", null, 1200)).toBe(true);
    expect(await incidents.mute("i1", 5000)).toBe(true);
    const [incident] = await incidents.list(0, 10);
    expect(incident).toMatchObject({
      ackedAt: 1200,
      ackedBy: "bob@host",
      note: "a disk is on its way",
      mutedUntil: 5000,
      resolvedAt: null,
    });
    expect(await incidents.note("i1", null)).toBe(true);
    expect(await incidents.mute("i1", null)).toBe(true);
    expect((await incidents.list(0, 10))[0]).toMatchObject({ note: null, mutedUntil: null });
    expect(await incidents.note("i9", "x")).toBe(false);
    expect(await incidents.acknowledge("i9", "x", null, 1)).toBe(false);
  });
}
