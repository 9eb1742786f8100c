import type { GlobalDatabase } from '@dormouse/database';
import { Module } from '@nestjs/common';
import { GLOBAL_DATABASE } from '../services.js';
import { SignIn } from '../users/sign-in.js';
import { InvitationsController } from './invitations.controller.js';
import { Invitations } from './invitations.js';
import { Joining } from './joining.js';
import { Members } from './members.js';
import { TeamsController } from './teams.controller.js';

/** Members and invitations of accounts. */
@Module({
  controllers: [TeamsController, InvitationsController],
  providers: [
    {
      provide: Members,
      inject: [GLOBAL_DATABASE],
      useFactory: (database: GlobalDatabase) => new Members(database),
    },
    {
      provide: Invitations,
      inject: [GLOBAL_DATABASE, SignIn],
      useFactory: (database: GlobalDatabase, { settings }: SignIn) => new Invitations(database, settings),
    },
    {
      provide: Joining,
      inject: [Invitations, SignIn],
      useFactory: (invitations: Invitations, signIn: SignIn) => new Joining(invitations, signIn),
    },
  ],
  exports: [Members, Invitations],
})
export class TeamsModule {}
