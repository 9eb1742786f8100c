import type { ChannelRecord } from '@dormouse/channel-directory';
import {
  checkContactsBody,
  GatewayError,
  normalizeContactId,
  pageQuery,
  type CheckContactsBody,
  type CheckContactsResult,
  type ContactShape,
  type ContactsList,
  type PageQuery,
  type UserProfile,
} from '@dormouse/gateway-contract';
import { MessageReader } from '@dormouse/message-store/read';
import { valid } from '@dormouse/http-server';
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { CurrentCaller, CurrentChannel, type Caller } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { RateLimits } from '../access/rate-limits.js';
import { ChannelCommands } from '../messages/channel-commands.js';

/** Contacts of the channel, and queries to the network about people. */
@Controller('contacts')
export class ContactsController {
  constructor(
    private readonly messages: MessageReader,
    private readonly commands: ChannelCommands,
    private readonly rateLimits: RateLimits,
  ) {}

  @Get()
  list(@CurrentChannel() { id }: ChannelRecord, @Query(valid(pageQuery)) query: PageQuery): Promise<ContactsList> {
    return this.messages.listContacts(id, query);
  }

  /** Which numbers are on the network. The limit counts numbers, not requests: the access chain has counted one. */
  @Post()
  @HttpCode(200)
  @Endpoint({ rate: 'contactChecks' })
  async check(
    @CurrentCaller() caller: Caller,
    @Body(valid(checkContactsBody)) body: CheckContactsBody,
  ): Promise<CheckContactsResult> {
    await this.rateLimits.take('contactChecks', caller.channel.id, body.contacts.length - 1);
    return this.commands.callWithoutKey(caller, 'contacts.check', body);
  }

  @Get(':ContactID')
  async one(@CurrentChannel() { id }: ChannelRecord, @Param('ContactID') text: string): Promise<ContactShape> {
    const contact = await this.messages.contact(id, contactId(text));
    if (!contact) throw new GatewayError(404, { details: NO_SUCH_CONTACT });
    return contact;
  }

  /** Picture and about, from the network. */
  @Get(':ContactID/profile')
  async profile(@CurrentCaller() caller: Caller, @Param('ContactID') text: string): Promise<UserProfile> {
    return this.commands.callWithoutKey(caller, 'contacts.profile', { contactId: contactId(text) });
  }
}

const NO_SUCH_CONTACT = 'ContactID: no such contact';

/** @throws {GatewayError} 404 for what cannot be a contact's id */
function contactId(text: string): string {
  const id = normalizeContactId(text);
  if (id === undefined) throw new GatewayError(404, { details: NO_SUCH_CONTACT });
  return id;
}
