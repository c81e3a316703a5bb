"""Calls on nested tensors, of both layouts, and what they give as text; run by record_nested.py and the tests."""

import re


def scope(torch, layout):
    """What the calls name."""
    x1, x2 = torch.arange(6.0).reshape(2, 3) / 3 + 0.1, torch.arange(12.0).reshape(4, 3) / 5 - 0.7
    nested, layout = torch.nested.nested_tensor, getattr(torch, layout)
    return {
        "torch": torch, "F": torch.nn.functional, "nt": torch.nested, "L": layout, "x1": x1, "x2": x2,
        "w": torch.tensor([[0.5, -1.0, 2.0], [1.5, 0.25, -0.75]]), "n": nested([x1, x2], layout=layout),
        "n2": nested([x1 + 1, x2 * 2], layout=layout), "i": nested([torch.arange(2), torch.arange(3)], layout=layout),
        "one": nested([torch.arange(2.0), torch.arange(3.0)], layout=layout),
        "q": nested([x1.reshape(2, 1, 3), x2.reshape(4, 1, 3)], layout=layout),
        "r": nested([x1, x2], layout=layout, requires_grad=True),
    }  # fmt: skip


def text(torch, found):
    """A result: nested tensors by their layout and parts."""
    if isinstance(found, (tuple, list)):
        return type(found).__name__.partition(".")[0] + str([text(torch, x) for x in found])
    if isinstance(found, torch.Tensor) and found.is_nested:
        return f"{found.layout} {found.dtype} {[x.tolist() for x in found.unbind()]}"
    out = str(found.tolist()) if isinstance(found, torch.Tensor) else repr(found)
    return re.sub(r"j\d+", "jN", out)


def rounded(found):
    """The numbers of a text as three digits say them."""
    return re.sub(r"-?\d+\.\d+(e-?\d+)?", lambda m: f"{round(float(m.group()), 3) + 0.0:g}", found)


def outcome(torch, call, names):
    """What a call gives, or that it is refused."""
    try:
        return rounded(text(torch, eval(call, names)))
    except Exception:
        return "refused"


def gradient(torch, call, names):
    """The gradient of a leaf when the parts of the result are added up."""
    try:
        out = eval(call, names)
        (sum(p.sum() for p in out.unbind()) if out.is_nested else out.sum()).backward()
        return rounded(text(torch, names["r"].grad))
    except Exception:
        return "refused"


CALLS = [
    "n.is_nested", "n.layout", "n.dim()", "n.ndim", "n.numel()", "n.dtype", "n.device", "n.size(0)", "n.size(1)",
    "n.size(2)", "n.size(-1)", "n.size()", "n.shape", "len(n)", "n.requires_grad", "n.is_contiguous()", "n.stride()",
    "n.unbind()", "torch.unbind(n)", "list(n)", "n[0]", "n[1]", "n[-1]", "n[2]", "n[0,0]", "n[:,0]", "n[0:1]", "n[...,0]",
    "n[:,:,0]", "nt.to_padded_tensor(n,0.)", "nt.to_padded_tensor(n,-1.,output_size=(2,5,3))", "n.to_padded_tensor(2.)",
    "nt.to_padded_tensor(n,0.,output_size=(2,3,3))", "n.to_padded_tensor(0.,(3,5,4))", "nt.as_nested_tensor([x1,x2])",
    "nt.as_nested_tensor([x1,x2],layout=L)", "nt.as_nested_tensor(n)", "nt.as_nested_tensor(w,layout=L)",
    "nt.nested_tensor([],layout=L)", "nt.nested_tensor([[1.,2.],[3.]],layout=L)",
    "nt.nested_tensor([x1,x2],dtype=torch.float64,layout=L)", "nt.nested_tensor([x1,w[0]],layout=L)",
    "nt.nested_tensor([x1,x2.t()],layout=L)", "nt.nested_tensor(x1,layout=L)", "nt.nested_tensor([1.,2.],layout=L)",
    "nt.nested_tensor([torch.tensor(1.)],layout=L)", "nt.nested_tensor(3)", "nt.nested_tensor([x1,x2.int()],layout=L)",
    "nt.narrow(torch.arange(10.).reshape(2,5),1,torch.tensor([0,1]),torch.tensor([2,3]),layout=torch.jagged)",
    "nt.nested_tensor_from_jagged(torch.arange(5.),torch.tensor([0,2,5]))",
    "nt.nested_tensor_from_jagged(torch.arange(6.).reshape(3,2),torch.tensor([0,1,3])).shape",
    "nt.nested_tensor_from_jagged(torch.arange(5.),lengths=torch.tensor([2,3]))",
    "nt.nested_tensor_from_jagged(torch.arange(5.))", "nt.masked_select(x1,x1>1)", "n.values()", "n.offsets()",
    "n.lengths()", "n.clone()", "n.detach()", "n.contiguous()", "n.to(torch.float64)", "n.double()", "n.half()", "n.int()",
    "n.cpu()", "n+n", "n+s", "n+n2", "n-n", "n*n", "n/n", "n*2", "n+1", "2*n", "1-n", "n-1", "n/2", "n**2", "-n",
    "n+torch.tensor(2.)", "n*w[0]", "n+w[0]", "n*x1", "n==n", "n>0", "n<n", "n!=n", "n>=0", "n.eq(0)", "torch.add(n,n)",
    "torch.add(n,n,alpha=2)", "torch.sub(n,1)", "torch.mul(n,n)", "torch.div(n,2)", "torch.maximum(n,n)",
    "torch.where(n>0,n,n)", "torch.pow(n,2)", "torch.exp(n)", "n.exp()", "n.sin()", "n.cos()", "n.tanh()", "n.sigmoid()",
    "n.relu()", "n.abs()", "n.neg()", "n.sqrt()", "n.log()", "n.sgn()", "n.square()", "n.erf()", "n.floor()", "n.clamp(0,1)",
    "n.isnan()", "n.logical_not()", "n.rsqrt()", "n.reciprocal()", "n.sign()", "F.relu(n)", "F.gelu(n)", "F.silu(n)",
    "F.elu(n)", "F.leaky_relu(n)", "F.sigmoid(n)", "F.tanh(n)", "F.softplus(n)", "F.dropout(n,0.)", "F.dropout(n,.5,False)",
    "F.softmax(n,-1)", "torch.softmax(n,2)", "n.softmax(-1)", "F.softmax(n,1)", "F.softmax(n,0)", "F.log_softmax(n,-1)",
    "F.layer_norm(n,(3,))", "F.layer_norm(n,(3,),torch.ones(3)*2,torch.ones(3))", "F.layer_norm(n,(2,))",
    "torch.nn.LayerNorm(3)(n)", "F.linear(n,w)", "F.linear(n,w,w[:,0])", "torch.nn.Linear(3,2,bias=False)(n).dim()",
    "n@w.t()", "torch.matmul(n,w.t())", "torch.matmul(n,n.transpose(1,2))", "n@n.transpose(-1,-2)",
    "torch.bmm(n,n.transpose(-1,-2))", "torch.mm(n,w.t())", "n.transpose(1,2)", "n.transpose(-1,-2)", "n.transpose(0,1)",
    "n.permute(0,2,1)", "n.t()", "n.T", "n.reshape(2,-1,3)", "n.reshape(2,-1,3,1)", "n.view(2,-1,3)", "n.view(2,-1,3,1)",
    "n.view(-1)", "n.flatten()", "n.unsqueeze(1)", "n.unsqueeze(-1)", "n.unsqueeze(0)", "n.squeeze(-1)",
    "n.unsqueeze(-1).squeeze(-1)", "n.chunk(3,-1)", "n.chunk(2,0)", "n.chunk(2,1)", "n.split(1,-1)", "n.split([1,2],-1)",
    "n.sum()", "n.sum(-1)", "n.sum(1)", "n.sum(0)", "n.sum(-1,keepdim=True)", "n.sum(1,keepdim=True)", "n.mean()",
    "n.mean(-1)", "n.mean(1)", "n.mean(-1,keepdim=True)", "n.prod()", "n.amax(-1)", "n.amin(1)", "n.max()", "n.max(-1)",
    "n.min()", "n.argmax(-1)", "n.any()", "n.all()", "n.std()", "n.var(1)", "n.norm()", "n.cumsum(1)", "torch.cat([n,n])",
    "torch.cat([n,n],-1)", "torch.cat([n,n],1)", "torch.stack([n,n])", "torch.zeros_like(n)", "torch.ones_like(n)",
    "torch.full_like(n,2.)", "torch.empty_like(n).is_nested", "n.fill_(1.)", "n.zero_()", "n.copy_(n2)", "n.add_(n)",
    "n.mul_(2)", "n.add_(1)", "n.sin_()", "n.relu_()", "n.tolist()", "n.numpy()", "n.item()", "torch.equal(n,n)",
    "torch.allclose(n,n)", "n.masked_fill(n>0,0.)", "n.select(0,0)", "n.select(1,0)", "n.select(2,0)", "n.select(-1,1)",
    "n.narrow(-1,0,2)", "n.expand(2,2)", "n.repeat(1,1,1)", "n.gather(-1,n.int())", "n.index_select(0,torch.tensor([1]))",
    "F.embedding(i,w.t())", "F.scaled_dot_product_attention(q.transpose(1,2),q.transpose(1,2),q.transpose(1,2))",
    "F.scaled_dot_product_attention(q,q,q)", 'torch.einsum("bij->bi",n)', "F.normalize(n,dim=-1)", "F.rms_norm(n,(3,))",
    "F.batch_norm(n,torch.zeros(3),torch.ones(3))", "F.cross_entropy(n,n)", "F.mse_loss(n,n)",
    "nt.nested_tensor([x1,x2],layout=L).requires_grad_().requires_grad", "torch.is_tensor(n)", "isinstance(n,torch.Tensor)",
    "n.is_sparse", "n.element_size()", "n.is_floating_point()", "n.is_complex()", "n.grad", "r.is_leaf", "r.grad_fn",
    "n.is_same_size(n)", "n.backward()", "bool(n)", "float(n)", "one.sum()", "one.unsqueeze(-1)", "one*2", "one.softmax(-1)",
    "F.softmax(one,1)", "i.float()", "i+i", "i.sum()", "one.to_padded_tensor(-1.)", "n.to(layout=torch.strided)",
    'n.to("cpu")', "n.type(torch.float64)", "nt.nested_tensor([n],layout=L)", "torch.transpose(n,1,2)", "n.logsumexp(-1)",
    "F.pad(n,(1,1))", "n.flatten(1,2)", "n.unflatten(-1,(3,1))", "n.flatten(1)", "n.mT", "n.new_zeros(2)", "n.bool()",
    "~(n>0)", "(n>0)&(n<1)", "n.nan_to_num()", "n.to(torch.bfloat16)",
]  # fmt: skip

GRADIENTS = [
    "r * 2", "r.sin()", "r * r", "r.to_padded_tensor(0.0)", "F.softmax(r, -1) * r", "F.layer_norm(r, (3,), w[0], w[1]) * r",
    "F.linear(r, w)", "r @ w.t()", "r.transpose(1, 2)", "r.unbind()[0]", "r[1]", "r.sum(-1)", "r.mean(-1)",
    "torch.matmul(r, r.transpose(1, 2))", "F.gelu(r)", "r.sum()", "r.values().sum()", "r.clone()", "r.double()", "r**3",
    "torch.cat([r, r], -1)",
]  # fmt: skip
