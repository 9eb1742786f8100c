/** What a region of many numbers needs, and what that costs: arithmetic on measured constants, an assumed load, and list prices. */
import { z } from 'zod';

const positive = z.number().positive();
/** Processor time by part of the region, in milliseconds. */
const processorMs = z.object({
  worker: positive,
  edge: z.number(),
  dispatcher: z.number(),
  postgres: positive,
  redis: z.number(),
});

export const capacityInput = z.object({
  measured: z.object({
    date: z.iso.date(),
    /** Of one text sent by a live number, its receipts and their events included. */
    sendMs: processorMs,
    /** Of one text received by a live number and delivered to one webhook. */
    receiveMs: processorMs,
    /** Of one wake of a sleeping number and its falling asleep again. */
    wakeMs: processorMs,
    workerMb: positive,
    edgeMb: positive,
    dispatcherMb: positive,
    liveNumberMb: positive,
    /** Both kept generations of a sleeping number's state. */
    sleepingObjectsKb: positive,
    /** Rows of a number without its messages and events, with indexes. */
    numberRowsKb: positive,
    /** Rows of a message with its receipts, with indexes. */
    messageRowsKb: positive,
    eventRowsKb: positive,
  }),
  load: z.object({
    sendsADay: positive,
    receivedADay: positive,
    /** Part of the numbers that is connected at a time. */
    awakeShare: z.number().min(0).max(1),
    /** Part of the numbers whose webhook takes inbound events: they are woken more often. */
    listeningShare: z.number().min(0).max(1),
    wakesADay: z.object({ listening: positive, quiet: positive }),
    peakOfAverage: z.number().min(1),
    messageDays: positive,
    eventDays: positive,
    /** Files that are stored, per number, at any time. */
    filesMb: positive,
  }),
  limits: z.object({
    /** Part of a core that is planned for. */
    usedShare: z.number().gt(0).max(1),
    podCores: positive,
    podMb: positive,
    /** Of the largest database server that is rented for one region. */
    postgresCores: positive,
    postgresStorageGb: positive,
    /** Redis runs commands on one core. */
    redisCores: positive,
    /** Objects are fetched and stored below one prefix of a bucket at most so often, each second. */
    objectReads: positive,
    objectWrites: positive,
  }),
  /** US dollars. */
  prices: z.object({
    date: z.iso.date(),
    source: z.string(),
    podCoreHour: positive,
    postgresCoreHour: positive,
    redisCoreHour: positive,
    postgresGbMonth: positive,
    objectsGbMonth: positive,
    thousandWrites: positive,
    thousandReads: positive,
  }),
});
export type CapacityInput = z.output<typeof capacityInput>;

const HOURS_A_MONTH = 730;
const DAYS_A_MONTH = 30.4;
const DAY_S = 86_400;
type Part = keyof CapacityInput['measured']['sendMs'];

export interface Capacity {
  numbers: number;
  /** At the peak, each second. */
  sends: number;
  received: number;
  wakes: number;
  /** Busy cores at the peak. */
  cores: Record<Part, number>;
  pods: { worker: number; edge: number; dispatcher: number };
  /** Cores to rent, so that at the peak the planned part of them is busy. */
  postgresCores: number;
  postgresGb: number;
  objectsGb: number;
  objectWrites: number;
  objectReads: number;
  dollarsAMonth: Record<'pods' | 'postgres' | 'redis' | 'objects' | 'all' | 'each thousand numbers', number>;
  /** How much of what one of its kind can do is used, by part, the fullest first. */
  full: { part: string; share: number }[];
}

/** @param numbers of the region, all linked */
export function capacityOf(numbers: number, { measured, load, limits, prices }: CapacityInput): Capacity {
  const { listeningShare, wakesADay, peakOfAverage } = load;
  const asleep = numbers * (1 - load.awakeShare);
  const wakesEachDay = listeningShare * wakesADay.listening + (1 - listeningShare) * wakesADay.quiet;
  const aSecond = (eachDay: number): number => (eachDay / DAY_S) * peakOfAverage;
  const sends = aSecond(numbers * load.sendsADay);
  const received = aSecond(numbers * load.receivedADay);
  const wakes = aSecond(asleep * wakesEachDay);
  const busy = (part: Part): number =>
    (sends * measured.sendMs[part] + received * measured.receiveMs[part] + wakes * measured.wakeMs[part]) / 1_000;
  const cores: Record<Part, number> = {
    worker: busy('worker'),
    edge: busy('edge'),
    dispatcher: busy('dispatcher'),
    postgres: busy('postgres'),
    redis: busy('redis'),
  };
  const awakeMb = (numbers - asleep) * measured.liveNumberMb;
  const pods = {
    worker: podsOf(cores.worker, awakeMb, measured.workerMb, limits),
    edge: podsOf(cores.edge, 0, measured.edgeMb, limits),
    dispatcher: podsOf(cores.dispatcher, 0, measured.dispatcherMb, limits),
  };
  const messages = numbers * (load.sendsADay + load.receivedADay) * load.messageDays;
  const events = numbers * (load.sendsADay * 3 + load.receivedADay) * load.eventDays;
  const kb = messages * measured.messageRowsKb + events * measured.eventRowsKb + numbers * measured.numberRowsKb;
  const postgresGb = kb / 2 ** 20;
  const objectsGb = (asleep * measured.sleepingObjectsKb) / 2 ** 20 + (numbers * load.filesMb) / 1_024;
  // A wake reads one object; falling asleep writes one, reads it back, and lists.
  const [objectWrites, objectReads] = [wakes * 2, wakes * 2];
  const postgresCores = Math.max(2, Math.ceil(cores.postgres / limits.usedShare));
  const redisCores = Math.max(1, Math.ceil(cores.redis / limits.usedShare));
  const podCount = pods.worker + pods.edge + pods.dispatcher;
  const wakesAMonth = asleep * wakesEachDay * DAYS_A_MONTH;
  const dollars = {
    pods: podCount * limits.podCores * prices.podCoreHour * HOURS_A_MONTH,
    postgres: postgresCores * prices.postgresCoreHour * HOURS_A_MONTH + postgresGb * prices.postgresGbMonth,
    redis: redisCores * 2 * prices.redisCoreHour * HOURS_A_MONTH,
    objects:
      objectsGb * prices.objectsGbMonth + ((wakesAMonth * 2) / 1_000) * (prices.thousandWrites + prices.thousandReads),
  };
  const all = dollars.pods + dollars.postgres + dollars.redis + dollars.objects;
  const full = [
    { part: 'PostgreSQL: processor', share: cores.postgres / limits.usedShare / limits.postgresCores },
    { part: 'PostgreSQL: storage', share: postgresGb / limits.postgresStorageGb },
    { part: 'Redis: its one core', share: cores.redis / limits.usedShare / limits.redisCores },
    { part: 'object storage: writes', share: objectWrites / limits.objectWrites },
    { part: 'object storage: reads', share: objectReads / limits.objectReads },
  ].sort((a, b) => b.share - a.share);
  return {
    ...{
      numbers,
      sends,
      received,
      wakes,
      cores,
      pods,
      postgresCores,
      postgresGb,
      objectsGb,
      objectWrites,
      objectReads,
    },
    dollarsAMonth: { ...dollars, all, 'each thousand numbers': (all / numbers) * 1_000 },
    full,
  };
}

/** Two at least, so that one may end. */
function podsOf(busyCores: number, workMb: number, baseMb: number, limits: CapacityInput['limits']): number {
  const byCores = busyCores / (limits.podCores * limits.usedShare);
  const byMemory = workMb / (limits.podMb * limits.usedShare - baseMb);
  return Math.max(2, Math.ceil(byCores), Math.ceil(byMemory));
}
