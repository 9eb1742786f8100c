/** Products, orders, planned events and invitations. */
import type { AdminInviteContent, LinkPreviewContent, Message, PlannedEventContent } from '@dormouse/gateway-contract';
import { proto } from '@whiskeysockets/baileys';
import { present, toNumber, toPreview } from './present.js';
import { content, type Content, type Reading } from './reading.js';

type Order = NonNullable<Message['order']>;

const { OrderStatus } = proto.Message.OrderMessage;
const ORDER_STATUSES = new Map<number, Order['status']>([
  [OrderStatus.INQUIRY, 'new'],
  [OrderStatus.ACCEPTED, 'accepted'],
  [OrderStatus.DECLINED, 'canceled'],
]);

/** A product of a catalog, or the catalog itself. */
export function product(message: proto.Message.IProductMessage, { contactOf }: Reading): Content {
  if (message.catalog && !message.product) {
    const { title, description, catalogImage } = message.catalog;
    const value: LinkPreviewContent = {
      body: message.body ?? '',
      ...present<Partial<LinkPreviewContent>>({
        title,
        description,
        catalog_id: contactOf(message.businessOwnerJid),
        preview: toPreview(catalogImage?.jpegThumbnail),
      }),
    };
    return content('catalog', value, message.contextInfo);
  }
  const value = present<NonNullable<Message['product']>>({
    catalog_id: contactOf(message.businessOwnerJid),
    product_id: message.product?.productId,
  });
  return content('product', value, message.contextInfo);
}

export function order(message: proto.Message.IOrderMessage, { contactOf }: Reading): Content {
  const price = toNumber(message.totalAmount1000);
  const value = present<Order>({
    order_id: message.orderId,
    title: message.orderTitle,
    text: message.message,
    token: message.token,
    item_count: message.itemCount,
    currency: message.totalCurrencyCode,
    total_price: price === undefined ? undefined : price / 1_000,
    seller: contactOf(message.sellerJid),
    preview: toPreview(message.thumbnail),
    status: typeof message.status === 'number' ? ORDER_STATUSES.get(message.status) : undefined,
  });
  return content('order', value, message.contextInfo);
}

export function plannedEvent(message: proto.Message.IEventMessage): Content {
  const value = present<PlannedEventContent>({
    name: message.name,
    description: message.description,
    join_link: message.joinLink,
    is_canceled: message.isCanceled,
    start: toNumber(message.startTime),
    responses: undefined,
  });
  return content('event', value, message.contextInfo);
}

const { CallType } = proto.Message.ScheduledCallCreationMessage;
const CALL_TYPES = new Map<number, string>([
  [CallType.VOICE, 'Voice call'],
  [CallType.VIDEO, 'Video call'],
]);

/** A call that is announced for later. */
export function plannedCall(message: proto.Message.IScheduledCallCreationMessage): Content {
  const startMs = toNumber(message.scheduledTimestampMs);
  const value = present<PlannedEventContent>({
    name: message.title,
    description: message.callType ? CALL_TYPES.get(message.callType) : undefined,
    start: startMs === undefined ? undefined : Math.floor(startMs / 1_000),
  });
  return content('event', value, undefined);
}

export function groupInvite(message: proto.Message.IGroupInviteMessage): Content {
  const value: LinkPreviewContent = {
    body: message.caption ?? '',
    ...present<Partial<LinkPreviewContent>>({
      title: message.groupName,
      invite_code: message.inviteCode,
      preview: toPreview(message.jpegThumbnail),
    }),
  };
  return content('group_invite', value, message.contextInfo);
}

export function newsletterInvite(message: proto.Message.INewsletterFollowerInviteMessage): Content {
  const value: LinkPreviewContent = {
    body: message.caption ?? '',
    ...present<Partial<LinkPreviewContent>>({
      title: message.newsletterName,
      newsletter_id: message.newsletterJid,
      preview: toPreview(message.jpegThumbnail),
    }),
  };
  return content('newsletter_invite', value, message.contextInfo);
}

export function adminInvite(message: proto.Message.INewsletterAdminInviteMessage): Content {
  const value: AdminInviteContent = {
    body: message.caption ?? '',
    newsletter_id: message.newsletterJid ?? '',
    newsletter_name: message.newsletterName ?? '',
    expiration: toNumber(message.inviteExpiration) ?? 0,
    ...present<Pick<AdminInviteContent, 'preview'>>({ preview: toPreview(message.jpegThumbnail) }),
  };
  return content('admin_invite', value, message.contextInfo);
}
