package wire

import (
	"context"

	"github.com/sense-lang/sense/model"
)

// Ask sends one request to a service and gives its turn.
type Ask func(ctx context.Context, req *model.Request) (*model.Turn, error)

// Complete is what model.Client.Complete does for every vendor: it refuses what
// no service would take, bounds the time, asks again without a schema where that
// helps, and once more where an answer in pieces breaks off. whole asks for an
// answer in one piece, stream for one in pieces; errors are those of Run.
func Complete(ctx context.Context, o *model.Options, req *model.Request, whole, stream Ask) (*model.Turn, error) {
	if err := CheckRequest(o, req); err != nil {
		return nil, err
	}
	if err := CheckURL(o.BaseURL); err != nil {
		return nil, err
	}
	return Run(ctx, o, func(ctx context.Context) (*model.Turn, error) {
		return WithSchema(o, req, func(req *model.Request) (*model.Turn, error) {
			if req.Stream != nil {
				return Again(ctx, o, req, func(req *model.Request) (*model.Turn, error) { return stream(ctx, req) })
			}
			return whole(ctx, req)
		})
	})
}
