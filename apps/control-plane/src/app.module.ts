import type { Logger } from '@dormouse/bootstrap';
import type { GlobalDatabase } from '@dormouse/database';
import type { Redis } from '@dormouse/redis';
import { BullModule } from '@nestjs/bullmq';
import { Global, Module, type DynamicModule } from '@nestjs/common';
import { Accounts } from './accounts/accounts.js';
import { RequestLimits } from './accounts/request-limits.js';
import { AccountsModule } from './accounts/accounts.module.js';
import type { BillingAddress } from './billing/billing-client.js';
import { BillingModule } from './billing/billing.module.js';
import { ChannelsModule } from './channels/channels.module.js';
import { DocumentationModule } from './documentation/documentation.module.js';
import { EndingJobsModule } from './ending/ending-jobs.module.js';
import { EndingModule } from './ending/ending.module.js';
import { EventsModule } from './events/events.module.js';
import { FleetModule } from './fleet/fleet.module.js';
import { LinkingModule } from './linking/linking.module.js';
import { MailModule, type MailServices } from './mail/mail.module.js';
import { DEFAULT_LIMITS, type ManagementLimits } from './management-limits.js';
import { OperatorsModule } from './operators/operators.module.js';
import { OperatorKeys } from './operators/operator-keys.js';
import type { InstallationFacts } from './pages/installation.controller.js';
import { PagesModule } from './pages/pages.module.js';
import { Regions } from './regions/regions.js';
import { DEFAULT_STREAMS, type StreamSettings } from './streams/channel-streams.js';
import { RetentionModule } from './retention/retention.module.js';
import { AuditModule } from './audit/audit.module.js';
import { TeamsModule } from './teams/teams.module.js';
import type { SignInSettings } from './users/sign-in-settings.js';
import { SignIn } from './users/sign-in.js';
import { UserSessions } from './users/user-sessions.js';
import { UsersModule } from './users/users.module.js';
import {
  ALLOW_PRIVATE_WEBHOOKS,
  BILLING_ADDRESS,
  CHANNEL_LIMITS,
  GLOBAL_DATABASE,
  INSTALLATION_FACTS,
  JOBS_REDIS,
  LOG,
  STREAM_SETTINGS,
} from './services.js';

/** Services that the process opens once and every module can inject. */
export interface Services {
  database: GlobalDatabase;
  regions: Regions;
  operators: OperatorKeys;
  /** Absent: the defaults. */
  limits?: ManagementLimits;
  /** Absent: the defaults. */
  streams?: StreamSettings | undefined;
  /** Absent: nobody can sign in. */
  signIn?: SignInSettings | undefined;
  /** Absent: billing is off. */
  billing?: BillingAddress | undefined;
  /** Webhooks and proxies may be at private addresses: development only. */
  allowPrivateWebhooks?: boolean;
  /** Redis of background jobs, and what is done there. Absent: none, as in most specs. */
  jobs?: { redis: Redis; mail: MailServices };
  /** What pages are given beside the names of the regions and whether there is billing. */
  pages?: Pick<InstallationFacts, 'phones_url' | 'support'> & { gatewayUrls?: ReadonlyMap<string, string> };
  log: Logger;
}

@Global()
@Module({})
export class AppModule {
  static with({
    database,
    regions,
    operators,
    limits = DEFAULT_LIMITS,
    streams = DEFAULT_STREAMS,
    signIn,
    billing,
    allowPrivateWebhooks = false,
    jobs,
    pages = { support: '' },
    log,
  }: Services): DynamicModule {
    const services = [
      { provide: GLOBAL_DATABASE, useValue: database },
      { provide: LOG, useValue: log },
      ...(jobs ? [{ provide: JOBS_REDIS, useValue: jobs.redis }] : []),
      { provide: INSTALLATION_FACTS, useValue: installationFacts(regions, pages, billing !== undefined) },
      { provide: Regions, useValue: regions },
      { provide: OperatorKeys, useValue: operators },
      { provide: RequestLimits, useValue: new RequestLimits(limits) },
      { provide: CHANNEL_LIMITS, useValue: limits },
      { provide: STREAM_SETTINGS, useValue: streams },
      { provide: ALLOW_PRIVATE_WEBHOOKS, useValue: allowPrivateWebhooks },
      { provide: SignIn, useValue: new SignIn(database, signIn, log) },
      { provide: UserSessions, useValue: new UserSessions(database, signIn) },
      { provide: Accounts, useValue: new Accounts(database) },
      ...(billing ? [{ provide: BILLING_ADDRESS, useValue: billing }] : []),
    ];
    return {
      module: AppModule,
      imports: [
        AccountsModule,
        TeamsModule,
        AuditModule,
        BillingModule,
        ChannelsModule,
        EventsModule,
        FleetModule,
        LinkingModule,
        OperatorsModule,
        EndingModule,
        UsersModule,
        DocumentationModule,
        PagesModule,
        ...(jobs ? [BullModule.forRoot({ connection: jobs.redis }), MailModule.with(jobs.mail)] : []),
        ...(jobs ? [RetentionModule, EndingJobsModule] : []),
      ],
      providers: services,
      exports: services,
    };
  }
}

function installationFacts(
  regions: Regions,
  { gatewayUrls, ...pages }: NonNullable<Services['pages']>,
  billing: boolean,
): InstallationFacts {
  const named = regions.names.map((code) => {
    const url = gatewayUrls?.get(code);
    return url === undefined ? { code } : { code, gateway_url: url };
  });
  return { regions: named, billing, ...pages };
}
