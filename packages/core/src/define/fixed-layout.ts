import { OptionError } from '../errors/error-classes.js';

/** The form of a field: a number of that many bits, a truth value, or a text of at most so many bytes. */
export type FieldForm = NumberForm | 'boolean' | TextForm;
export type NumberForm = 'int8' | 'uint8' | 'int16' | 'uint16' | 'int32' | 'uint32' | 'float32' | 'float64';
/** `text:16`: at most 16 bytes of UTF-8. */
export type TextForm = `text:${number}`;

const NUMBER_FORMS: readonly string[] = [
  'int8',
  'uint8',
  'int16',
  'uint16',
  'int32',
  'uint32',
  'float32',
  'float64',
] satisfies NumberForm[];
const TEXT_FORM = /^text:[1-9]\d{0,4}$/;
const NEEDED = `needed one of ${NUMBER_FORMS.join(', ')}, boolean, or text:n with n up to 99999`;

/** The forms that a value of that type can have. */
export type FormOf<T> = [T] extends [number]
  ? NumberForm
  : [T] extends [boolean]
    ? 'boolean'
    : [T] extends [string]
      ? TextForm
      : never;

/** The layout of a payload: its form, or that of each of its fields. */
export type FixedLayout<T> = [FormOf<T>] extends [never]
  ? { readonly [Name in keyof T]-?: FormOf<T[Name]> }
  : FormOf<T>;

/** Fields with their forms, in their order in memory. One field without a name: a bare value. */
export type LayoutFields = readonly (readonly [name: string | undefined, form: FieldForm])[];

/** The fields of a declared layout; throws for one that is none. `option`: its place in the definition. */
export function layoutFields(layout: unknown, option: string): LayoutFields {
  if (typeof layout === 'string') return [[undefined, checkedForm(layout, option)]];
  if (typeof layout !== 'object' || layout === null) throw new OptionError(option, layout, NEEDED);
  const fields = Object.entries(layout);
  if (fields.length === 0) throw new OptionError(option, layout, 'needed at least one field');
  return fields.map(([name, form]) => [name, checkedForm(form, `${option}.${name}`)]);
}

function checkedForm(form: unknown, option: string): FieldForm {
  const isForm =
    typeof form === 'string' && (NUMBER_FORMS.includes(form) || form === 'boolean' || TEXT_FORM.test(form));
  if (!isForm) throw new OptionError(option, form, NEEDED);
  return form as FieldForm;
}
