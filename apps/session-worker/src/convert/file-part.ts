import type { proto } from '@whiskeysockets/baileys';
import { withFile } from './interactive-content.js';
import { innerContent } from './opened-message.js';

type Header = Pick<proto.IMessage, 'imageMessage' | 'videoMessage' | 'documentMessage'>;

/**
 * The content that points to a message's file, whichever wrappers the message came in: itself, or what stands above the
 * text of a template or of a message with buttons.
 */
export function contentWithFile(message: proto.IMessage | null | undefined): proto.IMessage | undefined {
  const content = innerContent(message);
  return content && (headerOf(content) ?? content);
}

function headerOf(content: proto.IMessage): Header | undefined {
  const { buttonsMessage, interactiveMessage } = content;
  const template = content.templateMessage ?? content.highlyStructuredMessage?.hydratedHsm;
  if (buttonsMessage) return buttonsMessage;
  if (template) {
    const { hydratedTemplate, hydratedFourRowTemplate, fourRowTemplate, interactiveMessageTemplate } = template;
    const rows = hydratedTemplate ?? hydratedFourRowTemplate ?? fourRowTemplate;
    return (
      rows ?? (interactiveMessageTemplate ? headerOf({ interactiveMessage: interactiveMessageTemplate }) : undefined)
    );
  }
  return interactiveMessage ? (withFile(interactiveMessage)?.header ?? undefined) : undefined;
}
