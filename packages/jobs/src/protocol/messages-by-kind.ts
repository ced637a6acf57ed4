/** A method for each kind of a union of messages: the protocol of an actor that receives them. */
export type MessagesByKind<Message extends { readonly kind: string }, Result = void> = {
  [Kind in Message['kind']]: (message: Extract<Message, { readonly kind: Kind }>) => Result;
};

/** Calls the method of the message's kind. */
export function callByKind<Message extends { readonly kind: string }, Result>(
  methods: MessagesByKind<Message, Result>,
  message: Message,
): Result {
  // The method of a kind takes the messages of that kind.
  const kind = message.kind as keyof MessagesByKind<Message, Result>;
  return (methods[kind] as (message: Message) => Result)(message);
}
