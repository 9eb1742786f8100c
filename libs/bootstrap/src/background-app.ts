import type { DynamicModule, Type } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { NestLog, type Logger } from './log.js';
import { openProbeServer, Probes } from './probes.js';
import type { RunningServer } from './run-server.js';

export interface BackgroundAppOptions<Module> {
  /** The app's name, on its metrics. */
  name: string;
  log: Logger;
  /** Where `/healthz`, `/readyz` and `/metrics` are answered. */
  probes: { port: number; host?: string };
  module: Type<Module>;
  /** The module with its settings; `probes` takes its metrics. */
  create: (probes: Probes) => DynamicModule;
  /** Whether the database answers, which decides readiness. */
  databaseAnswers: (module: Module) => Promise<boolean>;
}

/** Opens a Nest application that serves nothing but its probes: session worker and dispatcher. Not ready until it is open. */
export async function openBackgroundApp<Module>(options: BackgroundAppOptions<Module>): Promise<RunningServer> {
  const held: { module?: Module } = {};
  const probes = new Probes({
    app: options.name,
    checks: { database: async () => held.module !== undefined && (await options.databaseAnswers(held.module)) },
  });
  const context = await NestFactory.createApplicationContext(options.create(probes), {
    logger: new NestLog(options.log),
  });
  held.module = context.get(options.module);
  const server = await openProbeServer({ probes, ...options.probes });
  return {
    url: server.url,
    drain: async () => {
      probes.startDraining();
      await context.close();
      await server.close();
    },
  };
}
