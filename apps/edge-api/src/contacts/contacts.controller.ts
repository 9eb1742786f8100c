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
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { Caller, CurrentChannel } from '../access/current-channel.js';
import { Endpoint } from '../access/endpoint.js';
import { RateLimits } from '../access/rate-limits.js';
import { valid } from '../body/valid.js';
import { Sends, type SendCaller } from '../messages/sends.js';

/** People the channel knows, and what the network knows of people. */
@Controller('contacts')
export class ContactsController {
  constructor(
    private readonly messages: MessageReader,
    private readonly sends: Sends,
    private readonly rateLimits: RateLimits,
  ) {}

  @Get()
  list(@CurrentChannel() { id }: ChannelRecord, @Query(valid(pageQuery)) query: PageQuery): Promise<ContactsList> {
    return this.messages.listContacts(id, query);
  }

  /** Which numbers are on the network. Numbers count against the limit, not requests: the chain counted one already. */
  @Post()
  @HttpCode(200)
  @Endpoint({ rate: 'contactChecks' })
  async check(
    @Caller() { channel, requestId }: SendCaller,
    @Body(valid(checkContactsBody)) body: CheckContactsBody,
  ): Promise<CheckContactsResult> {
    await this.rateLimits.take('contactChecks', channel.id, body.contacts.length - 1);
    return this.sends.send({ channel, requestId }, 'contacts.check', body);
  }

  @Get(':ContactID')
  async one(@CurrentChannel() { id }: ChannelRecord, @Param('ContactID') asked: string): Promise<ContactShape> {
    const contact = await this.messages.contact(id, contactId(asked));
    if (!contact) throw new GatewayError(404, { details: NO_SUCH_CONTACT });
    return contact;
  }

  /** Picture and about, from the network. */
  @Get(':ContactID/profile')
  async profile(@Caller() { channel, requestId }: SendCaller, @Param('ContactID') asked: string): Promise<UserProfile> {
    return this.sends.send({ channel, requestId }, 'contacts.profile', { contactId: contactId(asked) });
  }
}

const NO_SUCH_CONTACT = 'ContactID: no such contact';

/** @throws {GatewayError} 404 for what cannot be a contact's id */
function contactId(asked: string): string {
  const id = normalizeContactId(asked);
  if (id === undefined) throw new GatewayError(404, { details: NO_SUCH_CONTACT });
  return id;
}
